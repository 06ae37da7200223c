// SPDX-License-Identifier: Apache-2.0
#include "server/deadlock/components.hpp"

#include <algorithm>

namespace holdfast::server {
namespace {

class Tarjan {
 public:
  explicit Tarjan(const std::vector<std::vector<std::size_t>>& arrows)
      : arrows_(arrows), vertices_(arrows.size()) {}

  std::vector<std::vector<std::size_t>> run() {
    for (std::size_t v = 0; v < arrows_.size(); ++v) {
      if (vertices_[v].number == 0) visit(v);
    }
    return std::move(found_);
  }

 private:
  struct Vertex {
    std::size_t number = 0;  // in the order of visits; 0: not visited yet
    std::size_t lowest = 0;  // that can be reached
    std::size_t next = 0;    // of its arrows
    bool open = false;
  };

  void visit(std::size_t root) {
    enter(root);
    while (!path_.empty()) {
      const auto at = path_.back();
      auto& vertex = vertices_[at];
      if (vertex.next == arrows_[at].size()) {
        leave(at);
        continue;
      }
      const auto to = arrows_[at][vertex.next++];
      if (vertices_[to].number == 0) {
        enter(to);
      } else if (vertices_[to].open) {
        vertex.lowest = std::min(vertex.lowest, vertices_[to].number);
      }
    }
  }

  void enter(std::size_t at) {
    vertices_[at] = {.number = ++count_, .lowest = count_, .open = true};
    path_.push_back(at);
    open_.push_back(at);
  }

  void leave(std::size_t at) {
    path_.pop_back();
    const auto& vertex = vertices_[at];
    if (!path_.empty()) {
      auto& parent = vertices_[path_.back()];
      parent.lowest = std::min(parent.lowest, vertex.lowest);
    }
    if (vertex.lowest != vertex.number) return;
    const auto begin = std::ranges::find(open_.rbegin(), open_.rend(), at).base() - 1;
    for (auto member = begin; member != open_.end(); ++member) vertices_[*member].open = false;
    if (open_.end() - begin > 1) found_.emplace_back(begin, open_.end());
    open_.erase(begin, open_.end());
  }

  const std::vector<std::vector<std::size_t>>& arrows_;
  std::vector<Vertex> vertices_;
  std::size_t count_ = 0;
  std::vector<std::size_t> path_;
  std::vector<std::size_t> open_;
  std::vector<std::vector<std::size_t>> found_;
};

}  // namespace

std::vector<std::vector<std::size_t>> cyclic_components(
    const std::vector<std::vector<std::size_t>>& arrows) {
  return Tarjan(arrows).run();
}

}  // namespace holdfast::server
