// SPDX-License-Identifier: Apache-2.0
#include "cli/syntax.hpp"

#include "cli/suggest.hpp"
#include "text/quote.hpp"
#include "text/url.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace holdfast::cli {
namespace {

// CLI11 gives words to a positional argument as long as it has fewer than it must have. No command
// line is that long.
constexpr int any_number = 1 << 24;

// Makes an option of CLI11's from one of ours, by where its value goes.
struct Translation {
  CLI::App& app;
  const Option& option;

  CLI::Option* operator()(std::monostate) const {
    return app.set_help_flag(option.names, option.text);
  }
  CLI::Option* operator()(bool* target) const {
    return app.add_flag(option.names, *target, option.text);
  }
  CLI::Option* operator()(const Reader& reader) const {
    const auto read = [&reader, this_option = &option](const std::string& value) {
      if (auto good = reader(value); !good) {
        const auto& names = this_option->names;
        throw CLI::ValidationError(names.substr(names.find("--")), good.error().message);
      }
    };
    return app.add_option_function<std::string>(option.names, read, option.text);
  }
  CLI::Option* operator()(std::vector<std::string>* target) const {
    const CLI::callback_t fill = [target, this_option = &option](const CLI::results_t& values) {
      const auto most = this_option->max_values;
      if (most != 0 && values.size() > most) {
        throw CLI::ArgumentMismatch::AtMost(this_option->names, static_cast<int>(most),
                                            values.size());
      }
      *target = values;
      return true;
    };
    // Not a vector of CLI11's: that would take "[a,b]" for two values, and all words behind the
    // option for its own.
    const int least = option.is_positional() ? any_number : 1;
    return app.add_option(option.names, fill, option.text)->expected(least, least)->take_all();
  }
  template <typename T>
  CLI::Option* operator()(T* target) const {
    return app.add_option(option.names, *target, option.text);
  }
};

template <typename T>
CLI::Range range_of(const Option& option) {
  return {static_cast<T>(option.range->first), static_cast<T>(option.range->second)};
}

void check_range(CLI::Option& to, const Option& option) {
  const auto& target = option.target;
  if (std::holds_alternative<int*>(target) || std::holds_alternative<std::optional<int>*>(target)) {
    to.check(range_of<int>(option));
  } else if (std::holds_alternative<std::uint64_t*>(target)) {
    to.check(range_of<std::uint64_t>(option));
  } else {
    to.check(range_of<std::uint32_t>(option));
  }
}

CLI::Option* translate(CLI::App& app, const Option& option) {
  auto* out = std::visit(Translation{app, option}, option.target);
  if (!option.word.empty()) out->type_name(option.word);
  if (option.is_required) out->required();
  if (option.may_lack_value) out->expected(0, 1);
  if (option.is_one_of_words) out->check(CLI::IsMember(CLI::detail::split(option.word, '|')));
  if (option.range) check_range(*out, option);
  return out;
}

void translate(CLI::App& app, const std::deque<Option>& options) {
  std::map<const Option*, CLI::Option*> made;
  for (const auto& option : options) made[&option] = translate(app, option);
  for (const auto& option : options) {
    for (const auto* other : option.excluded) made[&option]->excludes(made[other]);
    for (const auto* other : option.needed) made[&option]->needs(made[other]);
  }
}

std::unexpected<Error> refuse(const CLI::App& app, std::string_view reason) {
  return fail(Errc::bad_input, fmt::format("{}; see '{} --help'", reason, app.get_name()));
}

// What CLI11 says holds what was typed, as it was typed.
std::string harmless(std::string_view message) {
  auto text = text::masked(message);
  std::ranges::replace_if(
      text, [](char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; }, '?');
  return text;
}

// "--store: 1 required URL missing", or the same option twice.
std::string explain_mismatch(const CLI::App& app, std::string_view message) {
  const auto name = std::string(message.substr(0, message.find(':')));
  const auto* const option = app.get_option_no_throw(name);
  if (option == nullptr) return harmless(message);
  const bool stands_once = option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw;
  if (stands_once && option->count() > 1) return name + " stands twice";
  if (!message.ends_with("missing")) return harmless(message);
  // CLI11 adds what it checks: "CODE:INT in [0 - 255]".
  auto word = option->get_type_name();
  word.resize(std::min(word.find(':'), word.size()));
  return fmt::format("{} needs a value, as in {} {}", name, name, word);
}

Result<void> refuse_extras(const CLI::App& app) {
  auto extras = app.remaining();
  std::erase(extras, "--");  // CLI11 counts it although it knows what it means
  if (extras.empty()) return {};
  const auto& first = extras.front();
  // It may be a URL that stands in the wrong place, or a token behind an option that is misspelt.
  const auto is_option = first.starts_with('-');
  const auto shown =
      text::quoted(text::masked(is_option ? first.substr(0, first.find('=')) : first));
  if (!is_option) return refuse(app, "unexpected argument " + shown);
  std::vector<std::string> known;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) known.push_back("--" + name);
  }
  const auto hint = did_you_mean(first.substr(0, first.find('=')), known);
  if (hint.empty()) return refuse(app, "unknown option " + shown);
  return fail(Errc::bad_input, fmt::format("unknown option {}{}", shown, hint));
}

Result<void> refuse_missing(const CLI::App& app) {
  // What is missing may be missing because it was misspelt.
  if (auto extras = refuse_extras(app); !extras) return extras;
  for (const auto* option : app.get_options()) {
    if (option->get_required() && option->empty()) {
      return refuse(app, option->get_name(option->get_positional()) + " is missing");
    }
  }
  return {};
}

}  // namespace

Option& Option::required() {
  is_required = true;
  return *this;
}

Option& Option::excludes(const Option& other) {
  excluded.push_back(&other);
  return *this;
}

Option& Option::needs(const Option& other) {
  needed.push_back(&other);
  return *this;
}

Option& Option::one_of_words() {
  is_one_of_words = true;
  return *this;
}

Option& Option::between(std::uint64_t least, std::uint64_t most) {
  range = {least, most};
  return *this;
}

Option& Option::at_most(std::size_t count) {
  max_values = count;
  return *this;
}

Option& Option::optional_value() {
  may_lack_value = true;
  return *this;
}

Option& Syntax::flag(std::string names, bool* target, std::string text) {
  return option(std::move(names), target, {}, std::move(text));
}

Option& Syntax::option(std::string names, Target target, std::string word, std::string text) {
  options_.push_back({.names = std::move(names),
                      .target = std::move(target),
                      .word = std::move(word),
                      .text = std::move(text)});
  return options_.back();
}

Option& Syntax::positional(std::string name, Target target, std::string text, std::string word) {
  return option(std::move(name), std::move(target), std::move(word), std::move(text));
}

Option& Syntax::help_flag(std::string names, std::string text) {
  return option(std::move(names), {}, {}, std::move(text));
}

Result<Syntax::Asked> Syntax::parse(std::vector<std::string> words) const {
  CLI::App app("", program_);
  app.set_help_flag();  // it would have one of its own
  app.allow_extras();
  translate(app, options_);
  // CLI11 takes the words from the back.
  std::ranges::reverse(words);
  Result<void> good;
  try {
    app.parse(std::move(words));
    good = refuse_extras(app);
  } catch (const CLI::CallForHelp&) {
    return Asked::help;
  } catch (const CLI::RequiredError&) {
    good = refuse_missing(app);
  } catch (const CLI::ArgumentMismatch& error) {
    return refuse(app, explain_mismatch(app, error.what()));
  } catch (const CLI::ValidationError& error) {
    // It says what to write instead.
    return fail(Errc::bad_input, harmless(error.what()));
  } catch (const CLI::ParseError& error) {
    return refuse(app, harmless(error.what()));
  }
  if (!good) return std::unexpected(std::move(good.error()));
  return Asked::action;
}

}  // namespace holdfast::cli
