// SPDX-License-Identifier: Apache-2.0
//
// A value of a YAML text: what it is, what is in it, and where it stands. No header of ours names
// the library that reads YAML; config_node.cpp alone includes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::text {

// A place in the text. Both count from 0, and are -1 where the place is not known.
struct ConfigMark {
  int line = -1;
  int column = -1;

  // From 1, as people count; 1 where it is not known.
  std::size_t line_number() const { return line < 0 ? 1 : static_cast<std::size_t>(line) + 1; }
};

// Why a text cannot be read.
struct ConfigFlaw {
  std::string message;
  ConfigMark mark{};
  bool has_mark = true;  // else it concerns the text as a whole
};

// Immutable, and cheap to copy: a node keeps the whole text's tree alive. An alias is the node that
// it refers to, which may be one that holds the alias: a walk over everything needs a limit.
class ConfigNode {
 public:
  enum class Kind : std::uint8_t { null, scalar, list, map };
  struct Entry;

  // Whether a second document in the text is left unread, or is a flaw.
  enum class Documents : std::uint8_t { first, only };

  // Never throws for what is wrong with the text. Nothing but blanks and comments is null.
  static std::expected<ConfigNode, ConfigFlaw> parse(std::string_view yaml,
                                                     Documents documents = Documents::first);

  ConfigNode() = default;  // null, at no place

  Kind kind() const;
  bool is_null() const { return kind() == Kind::null; }
  bool is_scalar() const { return kind() == Kind::scalar; }
  bool is_list() const { return kind() == Kind::list; }
  bool is_map() const { return kind() == Kind::map; }
  // Of a list or a map, where it begins.
  ConfigMark mark() const;

  // The text of a scalar; empty for anything else.
  const std::string& scalar() const;
  // Whether the scalar stands in quotes, and so is a text whatever it looks like.
  bool is_quoted() const;

  // In their order; empty for anything but a list.
  std::vector<ConfigNode> elements() const;
  // In their order, and a key that stands twice is there twice; empty for anything but a map.
  std::vector<Entry> entries() const;
  // The value of the first entry with this key; null if there is none.
  ConfigNode find(std::string_view key) const;

 private:
  class Builder;
  struct Data;
  struct Tree;
  ConfigNode(std::shared_ptr<const Tree> tree, const Data* data)
      : tree_(std::move(tree)), data_(data) {}

  std::shared_ptr<const Tree> tree_;
  const Data* data_ = nullptr;  // in the tree; null: a null of no text
};

struct ConfigNode::Entry {
  ConfigNode key;
  ConfigNode value;
};

}  // namespace holdfast::text
