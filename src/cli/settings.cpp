// SPDX-License-Identifier: Apache-2.0
#include "cli/settings.hpp"

#include "text/config.hpp"
#include "text/quote.hpp"
#include "text/url.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <set>
#include <utility>

namespace holdfast::cli {
namespace {

// A variable that is set to nothing counts as not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Empty for somebody who has no home.
std::string user_config() {
  // A path that is not absolute has to be ignored, says the XDG specification.
  if (const auto folder = variable("XDG_CONFIG_HOME"); folder.starts_with('/')) {
    return folder + "/holdfast/config.yml";
  }
  const auto home = variable("HOME");
  return home.empty() ? "" : home + "/.config/holdfast/config.yml";
}

// Also where its folder is closed to us, as for a service that runs with somebody else's HOME. A
// file that is there and cannot be read is another thing.
bool is_missing(const std::string& path) {
  struct stat unused{};
  if (stat(path.c_str(), &unused) == 0) return false;
  return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
}

struct Loaded {
  std::string path;
  text::Config config;
};

// Later files give way to earlier ones, so values are put once and stay.
class Loader {
 public:
  explicit Loader(const SettingSources& sources) : sources_(sources) {}

  Result<Settings> run() {
    choose_profile();
    if (auto read = read_files(); !read) return std::unexpected(std::move(read.error()));
    if (!sources_.store.empty()) put(settings_.store, sources_.store, "--store");
    const bool chosen_by_option = !sources_.profile.empty();
    if (chosen_by_option) {
      if (auto put = put_profile(); !put) return std::unexpected(std::move(put.error()));
    }
    if (auto store = variable("HOLDFAST_STORE"); !store.empty()) {
      put(settings_.store, std::move(store), "HOLDFAST_STORE");
    }
    if (!chosen_by_option && !settings_.profile.value.empty()) {
      if (auto put = put_profile(); !put) return std::unexpected(std::move(put.error()));
    }
    for (const auto& file : loaded_) put_all(file.config.defaults, file.path);
    put(settings_.store, std::string("file:"), "default");
    put(settings_.ttl, default_ttl, "default");
    put(settings_.wait, std::optional<Duration>(), "default");
    return std::move(settings_);
  }

 private:
  void choose_profile() {
    settings_.profile = {"", ""};
    if (!sources_.profile.empty()) {
      settings_.profile = {sources_.profile, "--profile"};
    } else if (auto name = variable("HOLDFAST_PROFILE"); !name.empty()) {
      settings_.profile = {std::move(name), "HOLDFAST_PROFILE"};
    }
    for (auto* origin : {&settings_.store.origin, &settings_.ttl.origin, &settings_.wait.origin}) {
      origin->clear();
    }
  }

  Result<void> read_files() {
    auto instead = sources_.config.empty() ? variable("HOLDFAST_CONFIG") : sources_.config;
    if (!instead.empty()) return read(std::move(instead));
    if (auto read = read_if_there(user_config()); !read) return read;
    auto machine = variable("HOLDFAST_SYSTEM_CONFIG");
    if (machine.empty()) machine = machine_config;
    return read_if_there(std::move(machine));
  }

  Result<void> read_if_there(std::string path) {
    if (path.empty()) return {};
    if (!is_missing(path)) return read(std::move(path));
    settings_.files.push_back({std::move(path), false});
    return {};
  }

  Result<void> read(std::string path) {
    auto config = text::load_config(path);
    if (!config) return std::unexpected(std::move(config.error()));
    settings_.files.push_back({path, true});
    loaded_.push_back({std::move(path), std::move(*config)});
    return {};
  }

  Result<void> put_profile() {
    const auto& name = settings_.profile.value;
    for (const auto& file : loaded_) {
      const auto found = file.config.profiles.find(name);
      if (found == file.config.profiles.end()) continue;
      put_all(found->second, fmt::format("{}, profile {}", file.path, name));
      return {};
    }
    return fail(Errc::bad_input,
                fmt::format("{}: there is no profile {}; {}", settings_.profile.origin,
                            text::quoted(text::masked(name)), known_profiles()));
  }

  std::string known_profiles() const {
    std::set<std::string> known;
    for (const auto& file : loaded_) {
      for (const auto& [name, unused] : file.config.profiles) known.insert(text::quoted(name));
    }
    if (!known.empty()) return fmt::format("known are {}", fmt::join(known, ", "));
    std::vector<std::string> places;
    places.reserve(settings_.files.size());
    for (const auto& file : settings_.files) places.push_back(file.path);
    if (places.empty()) return "there is no config.yml that could have one";
    return fmt::format("profiles are looked for in {}", fmt::join(places, " and "));
  }

  void put_all(const text::Settings& from, const std::string& origin) {
    if (from.store) put(settings_.store, *from.store, origin);
    if (from.ttl) put(settings_.ttl, *from.ttl, origin);
    if (from.wait) put(settings_.wait, from.wait, origin);
  }

  template <typename T>
  static void put(Setting<T>& setting, T value, std::string_view origin) {
    if (setting.origin.empty()) setting = {std::move(value), std::string(origin)};
  }

  const SettingSources& sources_;
  std::vector<Loaded> loaded_;
  Settings settings_;
};

}  // namespace

Result<Settings> load_settings(const SettingSources& sources) { return Loader(sources).run(); }

}  // namespace holdfast::cli
