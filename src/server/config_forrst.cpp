// SPDX-License-Identifier: Apache-2.0
#include "server/config_forrst.hpp"

#include "forrst/lock_key.hpp"
#include "model/rate_limit.hpp"
#include "server/config_forrst_function.hpp"
#include "server/forrst/program.hpp"
#include "server/listen_address.hpp"
#include "text/quorum_url.hpp"
#include "text/quote.hpp"
#include "text/rate.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::server {
namespace {

using forrst::ShowOwner;
using Value = ConfigValue;

constexpr std::size_t max_label_bytes = 200;

std::unexpected<Error> refuse_forrst(std::string reason) {
  return fail(Errc::bad_input, std::move(reason));
}

Result<void> check_label(std::string_view label) {
  if (!label.empty() && label.size() <= max_label_bytes) return {};
  return refuse_forrst(fmt::format("must have 1 to {} bytes", max_label_bytes));
}

Result<void> check_socket(std::string_view path) {
  const auto parsed = parse_listen(fmt::format("unix:{}", path));
  if (parsed) return {};
  return refuse_forrst(parsed.error().message);
}

Result<void> read_verbs(const Value& value, Verbs& out) {
  std::vector<std::string> words;
  if (auto read = value.read_texts(words); !read) return read;
  Verbs verbs;
  for (const auto& word : words) {
    const auto verb = parse_verb(word);
    if (!verb) {
      return value.refuse(
          fmt::format("must be of read, lock and admin; got {}", text::quoted(word)));
    }
    verbs.add(*verb);
  }
  out = verbs;
  return {};
}

Result<void> read_functions(const Value& value, std::vector<ForrstFunction>& out) {
  std::vector<ForrstFunction> functions;
  forrst::Registry registry;
  auto read = value.each_element([&](const Value& element) -> Result<void> {
    if (functions.size() == max_configured_functions) {
      return value.refuse(fmt::format("must have at most {} entries", max_configured_functions));
    }
    if (auto done = read_function(element, functions.emplace_back()); !done) return done;
    if (auto checked = check_function(functions.back(), registry); !checked) {
      return element.refuse(checked.error());
    }
    return {};
  });
  if (read) out = std::move(functions);
  return read;
}

Result<void> check_functions(const std::vector<ForrstFunction>& functions) {
  if (functions.size() > max_configured_functions) {
    return refuse_forrst(
        fmt::format("forrst.functions: must have at most {} entries", max_configured_functions));
  }
  forrst::Registry registry;
  for (const auto& each : functions) {
    if (auto checked = check_function(each, registry); !checked) {
      return refuse_forrst("forrst.functions: " + checked.error().message);
    }
  }
  return {};
}

Result<void> read_option(std::string_view key, const Value& value, ForrstOptions& out) {
  if (key == "store") return value.read_text(out.store, text::check_store_url);
  if (key == "name") return value.read_text(out.name, check_label);
  if (key == "node") return value.read_text(out.node, check_label);
  if (key == "prefix") return value.read_text(out.prefix, forrst::check_prefix);
  if (key == "status_owner") {
    return value.read_choice(out.status_owner, {{"auto", ShowOwner::automatic},
                                                {"always", ShowOwner::always},
                                                {"admin", ShowOwner::admin}});
  }
  if (key == "strict_extensions") return value.read(out.strict_extensions);
  if (key == "rate_limit") return read_rate(value, out.rate_limit);
  if (key == "socket") return value.read_text(out.socket, check_socket);
  if (key == "socket_verbs") return read_verbs(value, out.socket_verbs);
  if (key == "command_threads") {
    return value.read_count(out.command_threads, {1, max_command_threads});
  }
  if (key == "functions") return read_functions(value, out.functions);
  return value.refuse_key(key);
}

}  // namespace

Result<void> read_rate(const Value& value, std::optional<RateRule>& out) {
  std::string words;
  if (auto read = value.read_text(words); !read) return read;
  const auto rate = text::parse_rate(words);
  if (!rate) return value.refuse(rate.error());
  const auto rule = text::make_rule(*rate, {});
  if (!rule) return value.refuse(rule.error());
  out = *rule;
  return {};
}

Result<void> read_forrst(const Value& value, ForrstOptions& out) {
  return read_entries(value, out, read_option);
}

Result<void> check_forrst(const ForrstOptions& options) {
  const auto at = [](std::string_view key, const Error& why) {
    return refuse_forrst(fmt::format("forrst.{}: {}", key, why.message));
  };
  if (auto good = check_label(options.name); !good) return at("name", good.error());
  if (!options.node.empty()) {
    if (auto good = check_label(options.node); !good) return at("node", good.error());
  }
  if (auto good = forrst::check_prefix(options.prefix); !good) return at("prefix", good.error());
  if (!options.socket.empty()) {
    if (auto good = check_socket(options.socket); !good) return at("socket", good.error());
  }
  if (options.command_threads < 1 || options.command_threads > max_command_threads) {
    return refuse_forrst(
        fmt::format("forrst.command_threads must be 1 to {}", max_command_threads));
  }
  if (options.rate_limit) {
    const auto good = model::admissible(model::RateCommand{.rule = *options.rate_limit});
    if (!good) return at("rate_limit", good.error());
  }
  return check_functions(options.functions);
}

std::vector<std::string> forrst_warnings(const ForrstOptions& options) {
  std::vector<std::string> warnings;
  for (const auto& each : options.functions) {
    if (each.command.empty() || find_program(each.command.front())) continue;
    warnings.push_back(
        fmt::format("forrst.functions: the program {} of {} is not there, or may not be run",
                    text::quoted(each.command.front()), each.about.name));
  }
  return warnings;
}

}  // namespace holdfast::server
