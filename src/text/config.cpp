// SPDX-License-Identifier: Apache-2.0
#include "text/config.hpp"

#include "text/duration.hpp"
#include "text/quorum_url.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

namespace holdfast::text {
namespace {

struct Range {
  Duration least;
  Duration most;
};

// yaml-cpp counts from 0, and says -1 where it does not know.
std::size_t line_of(const YAML::Mark& mark) {
  return static_cast<std::size_t>(std::max(mark.line, 0)) + 1;
}

// Lines count from 0; the end of the text for one that is not there.
std::size_t start_of_line(std::string_view text, int line) {
  std::size_t at = 0;
  for (int passed = 0; passed < line && at < text.size(); ++passed) {
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  }
  return at;
}

// Only notes where the latest document began.
class DocumentStarts final : public YAML::EventHandler {
 public:
  YAML::Mark latest;

  void OnDocumentStart(const YAML::Mark& mark) override { latest = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// YAML::LoadAll of yaml-cpp 0.7 never ends on a text such as ",", so documents are counted by hand.
std::optional<YAML::Mark> find_second_document(const std::string& yaml) {
  std::istringstream stream(yaml);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  const bool second = parser.HandleNextDocument(starts) && parser.HandleNextDocument(starts);
  if (!second) return std::nullopt;
  return starts.latest;
}

class Loader {
 public:
  Loader(std::string_view file_name, std::string_view text) : file_name_(file_name), text_(text) {}

  Result<Config> load(const YAML::Node& root) {
    Config config;
    if (!root.IsDefined() || root.IsNull()) return config;
    find_end_of_server(root);
    auto read = each_entry(root, "the file", [&](const std::string& key, const YAML::Node& value) {
      return read_top(key, value, config);
    });
    if (!read) return std::unexpected(std::move(read.error()));
    return config;
  }

  std::unexpected<Error> refuse(const YAML::Mark& mark, std::string_view reason) const {
    return fail(Errc::bad_input, fmt::format("{}:{}: {}", file_name_, line_of(mark), reason));
  }

 private:
  void find_end_of_server(const YAML::Node& root) {
    if (!root.IsMap()) return;
    const auto server = root["server"];
    if (!server.IsDefined()) return;
    for (const auto& entry : root) {
      const int line = entry.first.Mark().line;
      if (line > server.Mark().line) next_key_line_ = std::min(next_key_line_, line);
    }
  }

  // Calls `read(key, value)` for each entry of a map, and refuses whatever is not a plain one.
  template <typename Read>
  Result<void> each_entry(const YAML::Node& map, std::string_view what, Read read) {
    if (!map.IsMap()) {
      return refuse(map.Mark(), fmt::format("{} must have the form KEY: VALUE", what));
    }
    std::set<std::string> seen;
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) return refuse(entry.first.Mark(), "a key must be a word");
      const auto& key = entry.first.Scalar();
      if (!seen.insert(key).second) {
        return refuse(entry.first.Mark(), fmt::format("key {} stands twice", quoted(key)));
      }
      key_mark_ = entry.first.Mark();
      if (auto done = read(key, entry.second); !done) return done;
    }
    return {};
  }

  Result<void> read_top(const std::string& key, const YAML::Node& value, Config& config) {
    if (key == "profiles") return read_profiles(value, config);
    if (key == "server") return read_server(value, config);
    return read_setting(key, value, config.defaults);
  }

  Result<void> read_profiles(const YAML::Node& value, Config& config) {
    return each_entry(value, "profiles", [&](const std::string& name, const YAML::Node& profile) {
      auto& settings = config.profiles[name];
      return each_entry(profile, "a profile", [&](const std::string& key, const YAML::Node& each) {
        return read_setting(key, each, settings);
      });
    });
  }

  Result<void> read_server(const YAML::Node& value, Config& config) {
    if (!value.IsMap()) return refuse(key_mark_, "server must have the form KEY: VALUE");
    config.server_line = line_of(value.Mark());
    config.server_yaml = source_of(value);
    return {};
  }

  // The lines as they stand in the file, so that errors in them can name their lines. Where they
  // mean something else by themselves, because of an alias or a bracket, as few lines as yaml-cpp
  // needs.
  std::string source_of(const YAML::Node& value) const {
    const auto dumped = YAML::Dump(value);
    const auto& mark = value.Mark();
    const auto begin = start_of_line(text_, mark.line);
    const auto end = start_of_line(text_, next_key_line_);
    const auto indent = static_cast<std::size_t>(std::max(mark.column, 0));
    if (begin + indent > end) return dumped;
    // What stands before it in the first line is not a part of it, but keeps its place.
    const auto source =
        std::string(indent, ' ').append(text_.substr(begin + indent, end - begin - indent));
    try {
      if (YAML::Dump(YAML::Load(source)) == dumped) return source;
    } catch (const YAML::Exception&) {
      return dumped;
    }
    return dumped;
  }

  Result<void> read_setting(const std::string& key, const YAML::Node& value, Settings& settings) {
    if (key != "store" && key != "ttl" && key != "wait") {
      return refuse(key_mark_, fmt::format("unknown key {}", quoted(key)));
    }
    if (!value.IsScalar()) return refuse(key_mark_, fmt::format("{} must be a single value", key));
    if (key == "store") return read_store(value, settings);
    if (key == "ttl") return read_duration(value, key, {min_ttl, max_ttl}, settings.ttl);
    return read_duration(value, key, {Duration::zero(), max_wait}, settings.wait);
  }

  Result<void> read_store(const YAML::Node& value, Settings& settings) const {
    auto url = check_store_url(value.Scalar());
    if (!url) return refuse(value.Mark(), "store: " + url.error().message);
    settings.store = value.Scalar();
    return {};
  }

  Result<void> read_duration(const YAML::Node& value, std::string_view key, Range range,
                             std::optional<Duration>& out) const {
    const auto duration = parse_duration(value.Scalar());
    if (!duration) {
      return refuse(value.Mark(), fmt::format("{}: {}", key, duration.error().message));
    }
    if (*duration < range.least || *duration > range.most) {
      const auto text = [](Duration d) {
        return format_duration(std::chrono::duration_cast<std::chrono::milliseconds>(d));
      };
      return refuse(value.Mark(), fmt::format("{} must be from {} to {}; got {}", key,
                                              text(range.least), text(range.most), value.Scalar()));
    }
    out = *duration;
    return {};
  }

  std::string_view file_name_;
  std::string_view text_;
  int next_key_line_ = std::numeric_limits<int>::max();  // of the key behind `server`
  YAML::Mark key_mark_;
};

std::unexpected<Error> unreadable(const std::string& path, int error) {
  return fail(Errc::bad_input,
              fmt::format("{}: cannot be read: {}", path, std::generic_category().message(error)));
}

}  // namespace

Result<Config> parse_config(std::string_view yaml, std::string_view file_name) {
  Loader loader(file_name, yaml);
  if (yaml.size() > max_config_bytes) {
    return fail(Errc::bad_input, fmt::format("{}: must be at most 1 MiB", file_name));
  }
  // yaml-cpp throws, and not only its own exceptions.
  try {
    const std::string text(yaml);
    if (const auto second = find_second_document(text)) {
      return loader.refuse(*second, "the YAML document ends here, but something follows");
    }
    return loader.load(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return loader.refuse(error.mark, error.msg);
  } catch (const std::exception& error) {
    return fail(Errc::bad_input, fmt::format("{}: is not YAML: {}", file_name, error.what()));
  }
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
