// SPDX-License-Identifier: Apache-2.0
#include "n8n/lock_scopes.hpp"

#include "n8n/env.hpp"
#include "text/config_node.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace holdfast::n8n {
namespace {

namespace json = boost::json;
using text::ConfigMark;
using text::ConfigNode;

constexpr std::string_view list_key = "lockScopes";
constexpr std::string_view blanks = " \t\r\n";

// The text, with what is needed to find places in it.
struct Page {
  std::string_view text;
  std::vector<std::size_t> lines;  // where each begins
  std::string_view line_end;

  explicit Page(std::string_view all) : text(all), lines{0}, line_end("\n") {
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '\n') lines.push_back(at + 1);
    }
    if (text.find("\r\n") != std::string_view::npos) line_end = "\r\n";
  }

  std::optional<std::size_t> at(const ConfigMark& mark) const {
    if (mark.line < 0 || static_cast<std::size_t>(mark.line) >= lines.size()) return std::nullopt;
    const auto place = lines[static_cast<std::size_t>(mark.line)] +
                       static_cast<std::size_t>(std::max(mark.column, 0));
    if (place > text.size()) return std::nullopt;
    return place;
  }
  std::string_view line(std::size_t number) const {
    const auto end = number + 1 < lines.size() ? lines[number + 1] : text.size();
    return text.substr(lines[number], end - lines[number]);
  }
  std::string inserted(std::size_t place, std::string_view more) const {
    return std::string(text.substr(0, place)).append(more).append(text.substr(place));
  }
  // As a line of its own behind the one of that number.
  std::string with_line(std::size_t number, std::string_view more) const {
    const auto before = line(number);
    const auto place = lines[number] + before.size();
    if (before.ends_with('\n')) return inserted(place, fmt::format("{}{}", more, line_end));
    return inserted(place, fmt::format("{}{}", line_end, more));
  }
};

std::string quoted(std::string_view scope) { return json::serialize(json::string(scope)); }

// Behind the quote that closes what is opened at `at`.
std::size_t past_quotes(std::string_view text, std::size_t at) {
  const char quote = text[at++];
  for (; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      const bool is_doubled = quote == '\'' && text.substr(at + 1).starts_with('\'');
      if (!is_doubled) return at + 1;
      ++at;
    }
  }
  return text.size();
}

// [a, b]: behind the last thing in it that is neither blank nor a comment.
std::optional<std::string> in_brackets(const Page& page, std::size_t open, std::string_view scope) {
  const auto text = page.text;
  std::size_t last = open;
  int depth = 0;
  for (std::size_t at = open; at < text.size();) {
    const char c = text[at];
    if (c == '#' && at > 0 && blanks.find(text[at - 1]) != std::string_view::npos) {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth == 0) {
      const char before = text[last];
      const auto* const comma = last == open ? "" : before == ',' ? " " : ", ";
      return page.inserted(last + 1, comma + quoted(scope));
    }
    const auto next = c == '"' || c == '\'' ? past_quotes(text, at) : at + 1;
    if (blanks.find(c) == std::string_view::npos) last = next - 1;
    at = next;
  }
  return std::nullopt;
}

// "  - a": below the last entry and whatever belongs to it.
std::optional<std::string> in_block(const Page& page, const ConfigNode& list,
                                    std::string_view scope) {
  const auto begin = page.at(list.mark());
  const auto dash = static_cast<std::size_t>(std::max(list.mark().column, 0));
  const auto entries = list.elements();
  if (!begin || entries.empty() || entries.back().mark().line < 0) return std::nullopt;
  auto number = static_cast<std::size_t>(entries.back().mark().line);
  if (number >= page.lines.size()) return std::nullopt;
  while (number + 1 < page.lines.size()) {
    const auto next = page.line(number + 1);
    const auto indent = next.find_first_not_of(blanks);
    if (indent == std::string_view::npos || indent <= dash || next[indent] == '#') break;
    ++number;
  }
  return page.with_line(number, fmt::format("{}- {}", std::string(dash, ' '), quoted(scope)));
}

// "lockScopes:" with nothing behind it, or with a word for nothing.
std::optional<std::string> in_nothing(const Page& page, const ConfigNode& key,
                                      std::string_view scope) {
  const auto begin = page.at(key.mark());
  if (!begin) return std::nullopt;
  const auto colon = page.text.find(':', *begin);
  if (colon == std::string_view::npos) return std::nullopt;
  const auto rest = page.text.substr(colon + 1, page.text.find('\n', colon) - colon - 1);
  const auto word = rest.substr(0, rest.find('#'));
  if (const auto first = word.find_first_not_of(blanks); first != std::string_view::npos) {
    const auto end = word.find_last_not_of(blanks) + 1;
    return std::string(page.text.substr(0, colon + 1 + first))
        .append(fmt::format("[{}]", quoted(scope)))
        .append(page.text.substr(colon + 1 + end));
  }
  return page.inserted(colon + 1, fmt::format(" [{}]", quoted(scope)));
}

std::string at_the_end(const Page& page, std::string_view scope) {
  std::string out(page.text);
  if (!out.empty() && !out.ends_with('\n')) out += page.line_end;
  return out + fmt::format("{}:{}  - {}{}", list_key, page.line_end, quoted(scope), page.line_end);
}

std::optional<std::string> edited(const Page& page, const ConfigNode& root,
                                  std::string_view scope) {
  if (!root.is_map()) return at_the_end(page, scope);
  for (const auto& entry : root.entries()) {
    if (!entry.key.is_scalar() || entry.key.scalar() != list_key) continue;
    const auto& list = entry.value;
    if (!list.is_list()) return in_nothing(page, entry.key, scope);
    const auto begin = page.at(list.mark());
    if (!begin || *begin >= page.text.size()) return std::nullopt;
    if (page.text[*begin] == '[') return in_brackets(page, *begin, scope);
    return in_block(page, list, scope);
  }
  return at_the_end(page, scope);
}

// What the file says must be what it said, and the scope.
bool is_as_meant(const Env& before, std::string_view after_text, std::string_view scope,
                 std::string_view file_name) {
  const auto after = Env::parse(after_text, file_name);
  if (!after) return false;
  const auto as_object = [](const Env& env) {
    const auto* root = env.find("");
    return root != nullptr && root->is_object() ? root->get_object() : json::object();
  };
  auto expected = as_object(before);
  auto& list = expected[list_key];
  if (!list.is_array()) list = json::array();
  list.get_array().emplace_back(scope);
  return as_object(*after) == expected;
}

}  // namespace

Result<std::string> with_lock_scope(std::string_view yaml, std::string_view scope,
                                    std::string_view file_name) {
  const auto before = Env::parse(yaml, file_name);
  if (!before) return std::unexpected(before.error());
  const auto* list = before->find(list_key);
  if (list != nullptr && !list->is_array()) {
    return fail(Errc::bad_input, fmt::format("{}: {} must be a list", file_name, list_key));
  }
  const auto known = before->lock_scopes();
  if (std::ranges::find(known, scope) != known.end()) return std::string(yaml);
  const Page page(yaml);
  const auto root = ConfigNode::parse(yaml);
  const auto after = root ? edited(page, *root, scope) : std::nullopt;
  if (after && is_as_meant(*before, *after, scope, file_name)) return *after;
  return fail(Errc::bad_input,
              fmt::format("{}: {} cannot be added to {} without changing something else; add it by "
                          "hand",
                          file_name, quoted(scope), list_key));
}

}  // namespace holdfast::n8n
