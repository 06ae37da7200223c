// SPDX-License-Identifier: Apache-2.0
//
// Everything the program itself writes. Results go to standard output, all other words to standard
// error, so that `holdfast run` leaves standard output to its command.
#pragma once

#include <holdfast/error.hpp>

#include <boost/json/object.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast::cli {

// The exit code when standard output cannot be written: sysexits' EX_IOERR. The error table has
// the other ones.
inline constexpr int exit_output_failed = 74;

// How long a sentence waits for standard error to take it.
inline constexpr std::chrono::milliseconds note_patience{100};
inline constexpr std::chrono::milliseconds error_patience{3000};

struct ConsoleOptions {
  bool json = false;
  bool quiet = false;    // neither notes nor results for people; errors still
  bool verbose = false;  // details too
};

enum class Style { plain, bold, dim, red, green, yellow, cyan };

class Console {
 public:
  explicit Console(ConsoleOptions options = {});

  bool json() const { return options_.json; }
  bool quiet() const { return options_.quiet; }
  bool verbose() const { return options_.verbose; }

  // A line of the result, for people. Held back until finish(). The line end is added.
  void print(std::string_view line);
  // The result for programs, in one line. Written with --json only.
  void print(const boost::json::object& result);

  // Sentences on standard error: note() unless --quiet, detail() with --verbose only. With --json
  // each is an object {"note": …} or {"detail": …}.
  void note(std::string_view sentence);
  void detail(std::string_view sentence);
  // An object in one line on standard error, with --json only.
  void event(const boost::json::object& event);
  void error(const Error& error);
  // A failure that the error table does not know, with its own exit code, such as 127.
  void error(std::string_view message, int exit_code);

  // Writes what print() held back. False, and says why, if standard output does not take it.
  [[nodiscard]] bool finish();

  // The text in a colour if standard output is a terminal and NO_COLOR is not set.
  std::string styled(Style style, std::string_view text) const;

 private:
  ConsoleOptions options_;
  bool colours_;
  std::string out_;
};

// Writes all of it, or tells errno. Not buffered.
int write_all(int fd, std::string_view text) noexcept;

}  // namespace holdfast::cli
