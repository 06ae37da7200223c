// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.hpp"

#include "cli/suggest.hpp"
#include "text/quote.hpp"
#include "text/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace holdfast::cli {
namespace {

// Those of the common options that take a value, which must not be mistaken for the command.
constexpr std::array<std::string_view, 3> with_value{"--store", "--profile", "--config"};

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
  if (option->get_expected_max() == 1 && option->count() > 1) return name + " stands twice";
  if (!message.ends_with("missing")) return harmless(message);
  return fmt::format("{} needs a value, as in {} {}", name, name, option->get_type_name());
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

}  // namespace

Words take_apart(std::vector<std::string> arguments) {
  Words words;
  const auto separator = std::ranges::find(arguments, "--");
  words.has_separator = separator != arguments.end();
  if (words.has_separator) words.rest.assign(separator + 1, arguments.end());
  arguments.erase(separator, arguments.end());

  auto word = arguments.begin();
  while (word != arguments.end() && word->starts_with('-')) {
    const bool has_value = std::ranges::find(with_value, *word) != with_value.end();
    if (has_value && word + 1 != arguments.end()) ++word;
    ++word;
  }
  if (word != arguments.end()) {
    words.command = std::move(*word);
    arguments.erase(word);
  }
  words.options = std::move(arguments);
  return words;
}

void declare_common(CLI::App& app, CommonOptions& options) {
  app.set_help_flag("-h,--help", "Show this text and exit");
  app.add_option("--store", options.sources.store,
                 "Where the locks are: file:, file:/some/folder, redis://HOST:PORT, "
                 "redlock://HOST,HOST,HOST, …")
      ->type_name("URL");
  app.add_option("--profile", options.sources.profile, "Use this profile of config.yml")
      ->type_name("PROFILE");
  app.add_option("--config", options.sources.config,
                 "Read this file instead of the usual config.yml")
      ->type_name("FILE");
  app.add_flag("--json", options.console.json, "Write JSON, one object per line");
  app.add_flag("-q,--quiet", options.console.quiet, "Write nothing but errors");
  app.add_flag("-v,--verbose", options.console.verbose, "Say what is being done");
}

Result<void> parse(CLI::App& app, std::vector<std::string> words) {
  app.allow_extras();
  // CLI11 takes the words from the back.
  std::ranges::reverse(words);
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    throw;
  } catch (const CLI::RequiredError&) {
    // What is missing may be missing because it was misspelt.
    if (auto extras = refuse_extras(app); !extras) return extras;
    for (const auto* option : app.get_options()) {
      if (option->get_required() && option->empty()) {
        return refuse(app, option->get_name(option->get_positional()) + " is missing");
      }
    }
  } catch (const CLI::ArgumentMismatch& error) {
    return refuse(app, explain_mismatch(app, error.what()));
  } catch (const CLI::ValidationError& error) {
    // It says what to write instead.
    return fail(Errc::bad_input, harmless(error.what()));
  } catch (const CLI::ParseError& error) {
    return refuse(app, harmless(error.what()));
  }
  return refuse_extras(app);
}

}  // namespace holdfast::cli
