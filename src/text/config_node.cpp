// SPDX-License-Identifier: Apache-2.0
#include "text/config_node.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <deque>
#include <sstream>
#include <unordered_map>
#include <utility>

namespace holdfast::text {

struct ConfigNode::Data {
  Kind kind = Kind::null;
  bool is_quoted = false;
  ConfigMark mark{};
  std::string scalar{};
  std::vector<const Data*> children{};  // of a map: keys and values by turns
};

// Owns its nodes side by side, since they may refer to each other in circles.
struct ConfigNode::Tree {
  std::deque<Data> nodes;
};

// Makes the nodes of one document.
class ConfigNode::Builder final : public YAML::EventHandler {
 public:
  explicit Builder(Tree& tree) : tree_(tree) {}

  const Data* root() const { return root_; }
  const YAML::Mark& begin() const { return begin_; }

  void OnDocumentStart(const YAML::Mark& mark) override { begin_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(Kind::null, mark, anchor);
  }
  void OnAlias(const YAML::Mark&, YAML::anchor_t anchor) override { place(anchors_.at(anchor)); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    auto& node = add(Kind::scalar, mark, anchor);
    node.scalar = value;
    node.is_quoted = tag == "!";
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open_.push_back(&add(Kind::list, mark, anchor));
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open_.push_back(&add(Kind::map, mark, anchor));
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  Data& add(Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    auto& node = tree_.nodes.emplace_back();
    node.kind = kind;
    node.mark = {.line = mark.line, .column = mark.column};
    if (anchor != YAML::NullAnchor) anchors_[anchor] = &node;
    place(&node);
    return node;
  }
  void place(const Data* node) {
    if (open_.empty()) {
      root_ = node;
    } else {
      open_.back()->children.push_back(node);
    }
  }

  Tree& tree_;
  const Data* root_ = nullptr;
  YAML::Mark begin_;
  std::vector<Data*> open_;  // the lists and maps that have not ended, the innermost last
  std::unordered_map<YAML::anchor_t, const Data*> anchors_;
};

std::expected<ConfigNode, ConfigFlaw> ConfigNode::parse(std::string_view yaml,
                                                        Documents documents) {
  const auto place_of = [](const YAML::Mark& mark) { return ConfigMark{mark.line, mark.column}; };
  // yaml-cpp throws, and not only its own exceptions.
  try {
    std::istringstream stream{std::string(yaml)};
    YAML::Parser parser(stream);
    auto tree = std::make_shared<Tree>();
    Builder builder(*tree);
    if (!parser.HandleNextDocument(builder)) return ConfigNode();
    if (documents == Documents::only) {
      // YAML::LoadAll of yaml-cpp 0.7 never ends on a text such as ",", so one more is asked for.
      Tree rest;
      Builder second(rest);
      if (parser.HandleNextDocument(second)) {
        return std::unexpected(ConfigFlaw{"the YAML document ends here, but something follows",
                                          place_of(second.begin())});
      }
    }
    return ConfigNode(std::move(tree), builder.root());
  } catch (const YAML::Exception& error) {
    return std::unexpected(ConfigFlaw{error.msg, place_of(error.mark)});
  } catch (const std::exception& error) {
    return std::unexpected(ConfigFlaw{.message = error.what(), .has_mark = false});
  }
}

ConfigNode::Kind ConfigNode::kind() const { return data_ == nullptr ? Kind::null : data_->kind; }

ConfigMark ConfigNode::mark() const { return data_ == nullptr ? ConfigMark{} : data_->mark; }

const std::string& ConfigNode::scalar() const {
  static const std::string nothing;
  return data_ == nullptr ? nothing : data_->scalar;
}

bool ConfigNode::is_quoted() const { return data_ != nullptr && data_->is_quoted; }

std::vector<ConfigNode> ConfigNode::elements() const {
  std::vector<ConfigNode> all;
  if (!is_list()) return all;
  all.reserve(data_->children.size());
  for (const auto* each : data_->children) all.push_back(ConfigNode(tree_, each));
  return all;
}

std::vector<ConfigNode::Entry> ConfigNode::entries() const {
  std::vector<Entry> all;
  if (!is_map()) return all;
  const auto& children = data_->children;
  all.reserve(children.size() / 2);
  for (std::size_t at = 0; at + 1 < children.size(); at += 2) {
    all.push_back({ConfigNode(tree_, children[at]), ConfigNode(tree_, children[at + 1])});
  }
  return all;
}

ConfigNode ConfigNode::find(std::string_view key) const {
  for (auto& entry : entries()) {
    if (entry.key.is_scalar() && entry.key.scalar() == key) return std::move(entry.value);
  }
  return {};
}

}  // namespace holdfast::text
