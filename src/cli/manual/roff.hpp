// SPDX-License-Identifier: Apache-2.0
//
// A man page in the macros of man(7), written piece by piece.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

// The text as it may stand in a line of a page: nothing in it is taken for a request or an escape,
// and a dash stays a dash that can be copied into a shell.
std::string roff_escaped(std::string_view text);

class RoffPage {
 public:
  // The date is YYYY-MM-DD.
  RoffPage(std::string_view name, std::string_view date);

  void section(std::string_view title);
  void subsection(std::string_view title);
  // Paragraphs, separated by empty lines. A line that begins with a space is shown as it is.
  void paragraphs(std::string_view text);
  // A head in bold and a text that is indented below it.
  void item(std::string_view head, std::string_view text);
  // A line that is shown as it is.
  void literal(std::string_view line);
  // A line that is already roff.
  void raw(std::string_view line);

  std::string finish() && { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace holdfast::cli
