// SPDX-License-Identifier: Apache-2.0
//
// What may stand behind a command's name. A command declares its flags, options and positional
// arguments once; they are parsed by that declaration, and help, man pages and completions are made
// of it. The parsing library is known to syntax.cpp alone.
#pragma once

#include <holdfast/error.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::cli {

// Takes a value that is neither a text nor a number. The message of an error is shown behind the
// option's name.
using Reader = std::function<Result<void>(const std::string& value)>;

// Where a value goes, exactly as it was typed. An option whose target is a vector may be repeated;
// an argument takes all words that are left. Without a target, it asks for help.
using Target = std::variant<std::monostate, bool*, std::string*, std::optional<std::string>*,
                            std::vector<std::string>*, int*, std::optional<int>*, std::uint32_t*,
                            std::optional<std::uint32_t>*, std::uint64_t*, Reader>;

struct Option {
  std::string names;  // "-w,--wait", or "NAME" for a positional argument
  Target target;
  std::string word;  // stands for the value in help: "URL", "text|json"; a flag has none
  std::string text;  // half a sentence for help

  bool is_required = false;
  bool may_lack_value = false;
  bool is_one_of_words = false;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> range;
  std::size_t max_values = 0;  // of a vector; 0: any number
  std::vector<const Option*> excluded;
  std::vector<const Option*> needed;

  // Refused where it is missing.
  Option& required();
  // Refused beside the other one, whichever stands first.
  Option& excludes(const Option& other);
  // Refused without the other one.
  Option& needs(const Option& other);
  // The value must be one of those in `word`, which has the form "text|json".
  Option& one_of_words();
  // The value, a number, must be one of these, both ends included.
  Option& between(std::uint64_t least, std::uint64_t most);
  // A vector gets no more values than that.
  Option& at_most(std::size_t count);
  // The value may be left out, and is then an empty text.
  Option& optional_value();

  bool is_positional() const { return !names.starts_with('-'); }
  bool is_list() const { return std::holds_alternative<std::vector<std::string>*>(target); }
};

class Syntax {
 public:
  // The program with its command, such as "holdfast run": messages say where to look for help.
  explicit Syntax(std::string program = {}) : program_(std::move(program)) {}
  Syntax(const Syntax&) = delete;
  Syntax& operator=(const Syntax&) = delete;

  // What is returned stays where it is as long as the Syntax lives. Targets must outlive parse().
  Option& flag(std::string names, bool* target, std::string text);
  Option& option(std::string names, Target target, std::string word, std::string text);
  // The word is only for completions: "bash|zsh|fish".
  Option& positional(std::string name, Target target, std::string text, std::string word = {});
  Option& help_flag(std::string names, std::string text);

  // In the order in which they were declared.
  const std::deque<Option>& options() const { return options_; }

  enum class Asked { action, help };

  // Takes the words apart and fills the targets. Errors: bad_input, with what to do.
  Result<Asked> parse(std::vector<std::string> words) const;

 private:
  std::string program_;
  std::deque<Option> options_;
};

}  // namespace holdfast::cli
