// SPDX-License-Identifier: Apache-2.0
#include "n8n/scope.hpp"

#include "n8n/limits.hpp"
#include "text/quote.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace holdfast::n8n {
namespace {

constexpr std::string_view white_space = " \t\r\n";
constexpr std::string_view opening = "{{";
constexpr std::string_view closing = "}}";

std::unexpected<Error> refuse(std::string reason) {
  return fail(Errc::bad_input, "scope expression: " + std::move(reason));
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(white_space);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(white_space) + 1 - begin);
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Every {{ has its }} behind it, before the next {{.
bool braces_match(std::string_view text) {
  while (true) {
    const auto open = text.find(opening);
    const auto close = text.find(closing);
    if (open == std::string_view::npos) return close == std::string_view::npos;
    if (close == std::string_view::npos || close < open) return false;
    if (text.substr(open + 2, close - open - 2).find(opening) != std::string_view::npos) {
      return false;
    }
    text.remove_prefix(close + 2);
  }
}

// What stands in ={{ … }}, if that is all there is.
std::optional<std::string_view> only_expression(std::string_view text) {
  if (!text.starts_with("={{") || !text.ends_with(closing) || text.size() < 5) return std::nullopt;
  const auto inside = text.substr(3, text.size() - 5);
  if (has(inside, opening) || has(inside, closing)) return std::nullopt;
  return trimmed(inside);
}

// A JavaScript string without anything to compute in it.
std::optional<std::string> string_literal(std::string_view code) {
  if (code.size() < 2 || code.front() != code.back()) return std::nullopt;
  const char quote = code.front();
  if (quote != '"' && quote != '\'' && quote != '`') return std::nullopt;
  std::string out;
  const auto inside = code.substr(1, code.size() - 2);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == quote) return std::nullopt;  // 'a' + 'b'
    if (quote == '`' && inside.substr(i).starts_with("${")) return std::nullopt;
    if (inside[i] != '\\') {
      out += inside[i];
      continue;
    }
    // The escapes that stand for themselves; whoever writes others gets a dynamic scope.
    if (++i == inside.size() || !has("\\'\"`/", inside.substr(i, 1))) return std::nullopt;
    out += inside[i];
  }
  return out;
}

Result<void> check_fixed(std::string_view scope) {
  if (scope.empty()) return refuse("the scope must be non-empty");
  if (scope.size() > max_fixed_scope_bytes) {
    return refuse(fmt::format("the scope has more than {} bytes (max_fixed_scope_bytes)",
                              max_fixed_scope_bytes));
  }
  if (scope.ends_with(":meta")) {
    return refuse(
        fmt::format("the scope {} ends in \":meta\", which is the key of what belongs to "
                    "another scope",
                    text::quoted(scope)));
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(scope, is_control)) return refuse("the scope has a control character");
  return {};
}

Result<ScopeExpression> made_whole(std::string_view text) {
  if (text.starts_with('=')) {
    if (has(text, opening)) return ScopeExpression{std::string(text), {}, {}};
    const auto code = trimmed(text.substr(1));
    if (code.empty()) return refuse("must be non-empty");
    return ScopeExpression{fmt::format("={{{{ {} }}}}", code), {}, "it is taken for an expression"};
  }
  if (has(text, opening)) {
    return ScopeExpression{
        fmt::format("={}", text), {}, "a text with an expression in it begins with ="};
  }
  if (auto checked = check_fixed(text); !checked) return std::unexpected(checked.error());
  const auto quoted = boost::json::serialize(boost::json::string(text));
  return ScopeExpression{fmt::format("={{{{ {} }}}}", quoted), {}, "it is taken for a plain scope"};
}

}  // namespace

std::optional<std::string> fixed_scope(std::string_view expression) {
  if (!expression.starts_with('=')) return std::string(expression);
  const auto code = only_expression(expression);
  return code ? string_literal(*code) : std::nullopt;
}

Result<ScopeExpression> normalise_scope(std::string_view written) {
  const auto text = trimmed(written);
  if (text.empty()) return refuse("must be non-empty");
  if (text.size() > max_expression_bytes) {
    return refuse(
        fmt::format("has more than {} bytes (max_expression_bytes)", max_expression_bytes));
  }
  if (!braces_match(text)) return refuse("its braces {{ }} do not match");
  auto out = made_whole(text);
  if (!out) return out;
  if (const auto code = only_expression(out->text); code && code->empty()) {
    return refuse("must be non-empty");
  }
  if (out->remark) {
    out->remark = fmt::format("scope {}: {}, so it is written as {}", text::quoted(text),
                              *out->remark, out->text);
  }
  out->fixed = fixed_scope(out->text);
  if (!out->fixed) return out;
  if (auto checked = check_fixed(*out->fixed); !checked) return std::unexpected(checked.error());
  return out;
}

}  // namespace holdfast::n8n
