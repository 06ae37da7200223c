// SPDX-License-Identifier: Apache-2.0
#include "backends/file/database_header.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace holdfast::backends::file {

namespace {

// The first two pages of an LMDB 0.9 file on a 64-bit machine, as mdb.c defines them.
struct PageHead {
  std::uint64_t number;
  std::uint16_t pad;
  std::uint16_t flags;
  std::uint32_t bounds;
};
struct Tree {
  std::uint32_t page_bytes;  // in the first tree of a header page only
  std::uint16_t flags;
  std::uint16_t depth;
  std::uint64_t branch_pages;
  std::uint64_t leaf_pages;
  std::uint64_t overflow_pages;
  std::uint64_t entries;
  std::uint64_t root;
};
struct HeaderPage {
  PageHead head;
  std::uint32_t magic;
  std::uint32_t version;
  std::uint64_t address;
  std::uint64_t map_bytes;
  std::array<Tree, 2> trees;
  std::uint64_t last_page;
  std::uint64_t txn;
};
static_assert(sizeof(void*) == 8 && sizeof(HeaderPage) == 152);
static_assert(std::is_trivially_copyable_v<HeaderPage>);

constexpr std::uint32_t lmdb_magic = 0xBEEFC0DE;
constexpr std::uint32_t lmdb_version = 1;
constexpr std::uint16_t header_flag = 0x08;
constexpr std::uint64_t no_root = ~std::uint64_t{0};
constexpr std::uint32_t min_page_bytes = 512;
constexpr std::uint32_t max_page_bytes = 0x8000;

bool read_at(int fd, off_t offset, HeaderPage& page) {
  return pread(fd, &page, sizeof page, offset) == static_cast<ssize_t>(sizeof page);
}

bool is_header(const HeaderPage& page) {
  return page.magic == lmdb_magic && (page.head.flags & header_flag) != 0;
}

bool agrees_with_its_file(const HeaderPage& page, std::size_t file_bytes) {
  const std::uint64_t page_bytes = page.trees[0].page_bytes;
  if (page.map_bytes > file_bytes || page.last_page >= page.map_bytes / page_bytes) return false;
  for (const Tree& tree : page.trees) {
    if (tree.root != no_root && tree.root > page.last_page) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> problem_of_database(int fd, std::size_t file_bytes) {
  HeaderPage first{};
  HeaderPage second{};
  if (!read_at(fd, 0, first) || !is_header(first)) return "was not made by Holdfast";
  if (first.version != lmdb_version) {
    return fmt::format("has LMDB format {}, and this version knows {}", first.version,
                       lmdb_version);
  }
  const std::uint32_t page_bytes = first.trees[0].page_bytes;
  const bool sane_pages = std::has_single_bit(page_bytes) && page_bytes >= min_page_bytes &&
                          page_bytes <= max_page_bytes;
  if (!sane_pages || !read_at(fd, page_bytes, second) || !is_header(second) ||
      second.trees[0].page_bytes != page_bytes) {
    return "is damaged or cut short";
  }
  const HeaderPage& newest = first.txn >= second.txn ? first : second;
  if (!agrees_with_its_file(newest, file_bytes)) return "is damaged or cut short";
  return std::nullopt;
}

}  // namespace holdfast::backends::file
