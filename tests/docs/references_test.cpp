// SPDX-License-Identifier: Apache-2.0
//
// Whoever follows a reference arrives: links between pages, and the pages and headings that
// comments and planted bugs name.
#include "docs/markdown.hpp"
#include "docs/repository.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

bool is_ours(const fs::path& folder) {
  static const std::set<std::string> others{"build", "node_modules", "corpus", "images"};
  const std::string name = folder.filename().string();
  return !name.starts_with('.') && !others.contains(name);
}

// Every file that somebody wrote by hand, but for this one, which names pages that are not there.
std::vector<fs::path> written_files() {
  std::vector<fs::path> found;
  for (fs::recursive_directory_iterator it(repository()), end; it != end; ++it) {
    if (it->is_directory() && !is_ours(it->path())) it.disable_recursion_pending();
    if (!it->is_regular_file() || it->path().filename() == "package-lock.json") continue;
    if (it->path().filename() != fs::path(__FILE__).filename()) found.push_back(it->path());
  }
  return found;
}

struct Reference {
  std::string page;    // "docs/limits.md", "json.md"
  std::string anchor;  // empty: the page as a whole
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

std::string words_from(const std::string& text, std::size_t from) {
  const auto end =
      std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), is_word);
  return {text.begin() + static_cast<std::ptrdiff_t>(from), end};
}

// Everything in a text that looks like a page of ours. Addresses are left out.
std::vector<Reference> references_of(const std::string& text) {
  static const std::string ending = ".md";
  std::vector<Reference> found;
  for (auto at = text.find(ending); at != std::string::npos; at = text.find(ending, at + 1)) {
    const auto after = at + ending.size();
    if (after < text.size() && is_word(text[after])) continue;
    auto from = at;
    while (from > 0 && (is_word(text[from - 1]) || text[from - 1] == '/' || text[from - 1] == '.' ||
                        text[from - 1] == ':')) {
      --from;
    }
    const auto path = text.substr(from, after - from);
    if (path == ending || path.find("://") != std::string::npos) continue;
    const bool has_anchor = after < text.size() && text[after] == '#';
    found.push_back({path.substr(path.find_first_not_of("/:")),
                     has_anchor ? words_from(text, after + 1) : std::string()});
  }
  return found;
}

// A page is named from the root, from docs/, or from where it is named.
std::optional<fs::path> page_named(const std::string& page, const fs::path& by) {
  for (const fs::path& folder : {by.parent_path(), repository(), repository() / "docs"}) {
    if (fs::is_regular_file(folder / page)) return folder / page;
  }
  return std::nullopt;
}

class References : public testing::Test {
 protected:
  void expect_anchor(const fs::path& page, const std::string& anchor) {
    auto& known = anchors_[fs::weakly_canonical(page).string()];
    if (known.empty()) known = anchors_of(read_text(page));
    EXPECT_TRUE(known.contains(anchor)) << page.string() << " has no heading #" << anchor;
  }

  void expect_page(const Reference& named, const fs::path& by) {
    const auto page = page_named(named.page, by);
    ASSERT_TRUE(page) << "there is no page " << named.page;
    if (!named.anchor.empty()) expect_anchor(*page, named.anchor);
  }

  void expect_link(const std::string& link, const fs::path& from) {
    if (link.find("://") != std::string::npos) return;
    const auto mark = link.find('#');
    const fs::path target = mark == 0 ? from : from.parent_path() / link.substr(0, mark);
    ASSERT_TRUE(fs::exists(target)) << link;
    if (mark != std::string::npos) expect_anchor(target, link.substr(mark + 1));
  }

 private:
  std::map<std::string, std::set<std::string>> anchors_;  // by page
};

// On a page the words of a link may be a bare file name; there only what begins at docs/ counts.
TEST_F(References, lead_to_pages_and_headings_that_exist) {
  std::size_t count = 0;
  for (const fs::path& file : written_files()) {
    SCOPED_TRACE(file.string());
    const bool is_page = file.extension() == ".md";
    const std::string text = read_text(file);
    for (const Reference& named : references_of(text)) {
      if (is_page && !named.page.starts_with("docs/")) continue;
      expect_page(named, file);
      ++count;
    }
    if (!is_page) continue;
    for (const std::string& link : links_of(text)) expect_link(link, file);
  }
  EXPECT_GT(count, 100U) << "the search itself is broken";
}

TEST(ReferenceSearch, finds_pages_with_and_without_a_heading_and_no_addresses) {
  const auto found = references_of(
      "// see docs/a.md#the-end, ${X}/docs/b.md and c.md.\n"
      "# https://example.org/d.md, e.mdx, the ending .md\n"
      "source: docs/f.md#… (g)");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].page, "docs/a.md");
  EXPECT_EQ(found[0].anchor, "the-end");
  EXPECT_EQ(found[1].page, "docs/b.md");
  EXPECT_EQ(found[2].page, "c.md");
  EXPECT_EQ(found[3].page, "docs/f.md");
  EXPECT_EQ(found[3].anchor, "");
}

// The incident that a planted bug names has to name the bug.
TEST(Incidents, name_the_planted_bugs_that_come_from_them) {
  const fs::path folder = repository() / "tests/simulation/planted";
  const auto incidents = sections_of(read_text(repository() / "docs/incidents.md"));
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".bug") continue;
    for (const Reference& named : references_of(read_text(entry.path()))) {
      if (named.page != "docs/incidents.md") continue;
      const auto at = std::ranges::find(incidents, named.anchor, &Section::anchor);
      ASSERT_NE(at, incidents.end()) << entry.path();
      EXPECT_NE(at->text.find("`" + entry.path().stem().string() + "`"), std::string::npos)
          << entry.path() << " is missing in #" << named.anchor;
      ++count;
    }
  }
  EXPECT_GE(count, 40U);
}

}  // namespace
}  // namespace holdfast::test
