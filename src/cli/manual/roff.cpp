// SPDX-License-Identifier: Apache-2.0
#include "cli/manual/roff.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::cli {
namespace {

// The character that begins at `at`, which is moved to its last byte. What we write is UTF-8.
std::uint32_t decode(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const unsigned more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  std::uint32_t character = first & (0x3fU >> more);
  for (unsigned i = 0; i < more && at + 1 < text.size(); ++i) {
    character = (character << 6U) | (static_cast<unsigned char>(text[++at]) & 0x3fU);
  }
  return character;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return out;
}

}  // namespace

std::string roff_escaped(std::string_view text) {
  std::string out;
  // A line that begins with one of these would be a request.
  if (text.starts_with('.') || text.starts_with('\'')) out = "\\&";
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (byte == '\\')
      out += "\\e";
    else if (byte == '-')
      out += "\\-";
    else if (byte == '~')
      out += "\\(ti";
    else if (byte == '^')
      out += "\\(ha";
    else if (byte == '\'')
      out += "\\(aq";
    else if (byte == '`')
      out += "\\(ga";
    else if (static_cast<unsigned char>(byte) < 0x80)
      out += byte;
    else
      out += fmt::format("\\[u{:04X}]", decode(text, at));
  }
  return out;
}

RoffPage::RoffPage(std::string_view name, std::string_view date)
    : out_(fmt::format(".TH {} 1 {} \"holdfast {}\" \"Holdfast\"\n", roff_escaped(upper(name)),
                       date, HOLDFAST_VERSION)) {}

void RoffPage::section(std::string_view title) { raw(fmt::format(".SH {}", title)); }

void RoffPage::subsection(std::string_view title) { raw(fmt::format(".SS {}", title)); }

void RoffPage::paragraphs(std::string_view text) {
  // A heading makes its own distance.
  bool is_first = out_.rfind("\n.S") == out_.rfind('\n', out_.size() - 2);
  bool is_new = true;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) {
      is_new = true;
      continue;
    }
    if (line.starts_with(' ')) {
      literal(line.substr(line.find_first_not_of(' ')));
    } else {
      if (is_new && !is_first) raw(".PP");
      raw(roff_escaped(line));
    }
    is_new = false;
    is_first = false;
  }
}

void RoffPage::item(std::string_view head, std::string_view text) {
  raw(".TP");
  raw(fmt::format("\\fB{}\\fR", roff_escaped(head)));
  raw(roff_escaped(text));
}

void RoffPage::literal(std::string_view line) {
  raw(".RS 4");
  raw(".EX");
  raw(roff_escaped(line));
  raw(".EE");
  raw(".RE");
}

void RoffPage::raw(std::string_view line) {
  out_ += line;
  out_ += '\n';
}

}  // namespace holdfast::cli
