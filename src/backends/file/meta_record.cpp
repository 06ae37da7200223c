// SPDX-License-Identifier: Apache-2.0
#include "backends/file/meta_record.hpp"

#include "model/bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace holdfast::backends::file {

namespace {

constexpr std::uint64_t database_magic = 0x424454534146444c;  // "LDFASTDB"
constexpr std::size_t fixed_bytes = 8 + 4 + 8 + 8;

}  // namespace

Result<MetaRecord> read_meta(const Txn& txn) {
  std::string_view bytes;
  if (txn.get(meta_key, bytes) != 0) return fail(Errc::unavailable, "was not made by Holdfast");
  model::ByteReader in(bytes);
  if (in.number<std::uint64_t>() != database_magic) {
    return fail(Errc::unavailable, "was not made by Holdfast");
  }
  if (const auto format = in.number<std::uint32_t>(); format != database_format) {
    return fail(Errc::unavailable,
                fmt::format("has format {}, and this version knows {}; another version of Holdfast "
                            "uses the store",
                            format, database_format));
  }
  MetaRecord meta;
  meta.fence_bound = in.number<std::uint64_t>();
  meta.last_step = model::StoreTime(Micros(in.number<std::int64_t>()));
  if (in.left() != meta.boot_id.size()) return fail(Errc::unavailable, "is damaged");
  std::ranges::copy(bytes.substr(fixed_bytes), meta.boot_id.begin());
  return meta;
}

int write_meta(Txn& txn, const MetaRecord& meta) {
  std::string bytes;
  bytes.reserve(fixed_bytes + meta.boot_id.size());
  model::FixedWriter<fixed_bytes>()
      .put(database_magic)
      .put(database_format)
      .put(meta.fence_bound)
      .put(std::int64_t{meta.last_step.time_since_epoch().count()})
      .append_to(bytes);
  bytes.append(meta.boot_id.data(), meta.boot_id.size());
  return txn.put(meta_key, bytes);
}

}  // namespace holdfast::backends::file
