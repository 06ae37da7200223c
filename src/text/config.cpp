// SPDX-License-Identifier: Apache-2.0
#include "text/config.hpp"

#include "text/duration.hpp"
#include "text/quorum_url.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

namespace holdfast::text {
namespace {

struct Range {
  Duration least;
  Duration most;
};

class Loader {
 public:
  explicit Loader(std::string_view file_name) : file_name_(file_name) {}

  Result<Config> load(const ConfigNode& root) {
    Config config;
    if (root.is_null()) return config;
    auto read = each_entry(root, "the file", [&](const std::string& key, const ConfigNode& value) {
      return read_top(key, value, config);
    });
    if (!read) return std::unexpected(std::move(read.error()));
    return config;
  }

  std::unexpected<Error> refuse(const ConfigMark& mark, std::string_view reason) const {
    return fail(Errc::bad_input, fmt::format("{}:{}: {}", file_name_, mark.line_number(), reason));
  }

 private:
  // Calls `read(key, value)` for each entry of a map, and refuses whatever is not a plain one.
  template <typename Read>
  Result<void> each_entry(const ConfigNode& map, std::string_view what, Read read) {
    if (!map.is_map()) {
      return refuse(map.mark(), fmt::format("{} must have the form KEY: VALUE", what));
    }
    std::set<std::string> seen;
    for (const auto& entry : map.entries()) {
      const auto mark = entry.key.mark();
      if (!entry.key.is_scalar()) return refuse(mark, "a key must be a word");
      const auto& key = entry.key.scalar();
      if (!seen.insert(key).second) {
        return refuse(mark, fmt::format("key {} stands twice", quoted(key)));
      }
      key_mark_ = mark;
      if (auto done = read(key, entry.value); !done) return done;
    }
    return {};
  }

  Result<void> read_top(const std::string& key, const ConfigNode& value, Config& config) {
    if (key == "profiles") return read_profiles(value, config);
    if (key == "server") return read_server(value, config);
    return read_setting(key, value, config.defaults);
  }

  Result<void> read_profiles(const ConfigNode& value, Config& config) {
    return each_entry(value, "profiles", [&](const std::string& name, const ConfigNode& profile) {
      auto& settings = config.profiles[name];
      return each_entry(profile, "a profile", [&](const std::string& key, const ConfigNode& each) {
        return read_setting(key, each, settings);
      });
    });
  }

  Result<void> read_server(const ConfigNode& value, Config& config) {
    if (!value.is_map()) return refuse(key_mark_, "server must have the form KEY: VALUE");
    config.server = value;
    return {};
  }

  Result<void> read_setting(const std::string& key, const ConfigNode& value, Settings& settings) {
    if (key != "store" && key != "ttl" && key != "wait") {
      return refuse(key_mark_, fmt::format("unknown key {}", quoted(key)));
    }
    if (!value.is_scalar()) return refuse(key_mark_, fmt::format("{} must be a single value", key));
    if (key == "store") return read_store(value, settings);
    if (key == "ttl") return read_duration(value, key, {min_ttl, max_ttl}, settings.ttl);
    return read_duration(value, key, {Duration::zero(), max_wait}, settings.wait);
  }

  Result<void> read_store(const ConfigNode& value, Settings& settings) const {
    auto url = check_store_url(value.scalar());
    if (!url) return refuse(value.mark(), "store: " + url.error().message);
    settings.store = value.scalar();
    return {};
  }

  Result<void> read_duration(const ConfigNode& value, std::string_view key, Range range,
                             std::optional<Duration>& out) const {
    const auto duration = parse_duration(value.scalar());
    if (!duration) {
      return refuse(value.mark(), fmt::format("{}: {}", key, duration.error().message));
    }
    if (*duration < range.least || *duration > range.most) {
      const auto text = [](Duration d) {
        return format_duration(std::chrono::duration_cast<std::chrono::milliseconds>(d));
      };
      return refuse(value.mark(), fmt::format("{} must be from {} to {}; got {}", key,
                                              text(range.least), text(range.most), value.scalar()));
    }
    out = *duration;
    return {};
  }

  std::string_view file_name_;
  ConfigMark key_mark_;
};

std::unexpected<Error> unreadable(const std::string& path, int error) {
  return fail(Errc::bad_input,
              fmt::format("{}: cannot be read: {}", path, std::generic_category().message(error)));
}

}  // namespace

Result<Config> parse_config(std::string_view yaml, std::string_view file_name) {
  if (yaml.size() > max_config_bytes) {
    return fail(Errc::bad_input, fmt::format("{}: must be at most 1 MiB", file_name));
  }
  Loader loader(file_name);
  const auto root = ConfigNode::parse(yaml, ConfigNode::Documents::only);
  if (root) return loader.load(*root);
  const auto& flaw = root.error();
  if (flaw.has_mark) return loader.refuse(flaw.mark, flaw.message);
  return fail(Errc::bad_input, fmt::format("{}: is not YAML: {}", file_name, flaw.message));
}

Result<Config> load_config(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return unreadable(path, errno);
  std::string text(max_config_bytes + 1, '\0');
  // A directory opens, and fails only here.
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && !file.eof()) {
    return unreadable(path, errno);
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_config(text, path);
}

Result<Settings> choose_profile(const Config& config, std::string_view name) {
  if (name.empty()) return config.defaults;
  const auto found = config.profiles.find(name);
  if (found == config.profiles.end()) {
    return fail(Errc::bad_input,
                fmt::format("profile {} is not in the configuration", quoted(name)));
  }
  auto settings = found->second;
  if (!settings.store) settings.store = config.defaults.store;
  if (!settings.ttl) settings.ttl = config.defaults.ttl;
  if (!settings.wait) settings.wait = config.defaults.wait;
  return settings;
}

}  // namespace holdfast::text
