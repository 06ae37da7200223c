// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/view.hpp"

#include <holdfast/options.hpp>

#include "model/utf8.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::cli {
namespace {

// Not yet renewed, a lease was as long as what has passed and what is left of it together. If that
// is more than the usual, it may have been renewed.
Micros first_guess(const HolderView& holder) {
  const auto whole = std::max(holder.held_for, Micros::zero()) + holder.remaining;
  return std::max(holder.remaining, std::min<Micros>(whole, default_ttl));
}

void erase_last_character(std::string& text) {
  // The bytes that continue a character begin with 10.
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0U) == 0x80U) {
    text.pop_back();
  }
  if (!text.empty()) text.pop_back();
}

void type(View& view, const Key& key) {
  switch (key.what) {
    case Key::What::text:
      if (view.filter.size() + key.text.size() <= max_name_bytes) view.filter += key.text;
      break;
    case Key::What::backspace:
      view.is_typing = !view.filter.empty();
      erase_last_character(view.filter);
      break;
    case Key::What::enter: view.is_typing = false; break;
    case Key::What::escape:
      view.is_typing = false;
      view.filter.clear();
      break;
    default: break;
  }
  view.top = 0;
}

void scroll(View& view, std::ptrdiff_t by, std::size_t rows) {
  const auto moved = static_cast<std::ptrdiff_t>(view.top) + by;
  view.top = static_cast<std::size_t>(std::max<std::ptrdiff_t>(moved, 0));
  keep_in_sight(view, rows);
}

}  // namespace

void see(View& view, Gathered gathered, text::WallTime now) {
  view.locks = std::move(gathered.locks);
  view.is_complete = gathered.is_complete;
  view.seen_at = now;
  view.trouble.clear();
  std::map<Fence, Micros> lengths;
  for (const auto& lock : view.locks) {
    for (const auto& holder : lock.holders) {
      const auto known = view.lengths.find(holder.fence);
      const auto before = known == view.lengths.end() ? first_guess(holder) : known->second;
      lengths[holder.fence] = std::max(before, holder.remaining);
    }
  }
  view.lengths = std::move(lengths);
}

std::vector<const LockView*> shown(const View& view) {
  std::vector<const LockView*> out;
  for (const auto& lock : view.locks) {
    if (lock.name.starts_with(view.filter)) out.push_back(&lock);
  }
  return out;
}

Micros length_of(const View& view, const HolderView& holder) {
  const auto known = view.lengths.find(holder.fence);
  return known == view.lengths.end() ? first_guess(holder) : known->second;
}

bool press(View& view, const Key& key, std::size_t rows) {
  if (view.is_typing) {
    type(view, key);
    return true;
  }
  const auto page = static_cast<std::ptrdiff_t>(std::max<std::size_t>(rows, 2)) - 1;
  constexpr std::ptrdiff_t everything = max_listed;
  switch (key.what) {
    case Key::What::up: scroll(view, -1, rows); break;
    case Key::What::down: scroll(view, 1, rows); break;
    case Key::What::page_up: scroll(view, -page, rows); break;
    case Key::What::page_down: scroll(view, page, rows); break;
    case Key::What::home: scroll(view, -everything, rows); break;
    case Key::What::end: scroll(view, everything, rows); break;
    case Key::What::escape:
      if (view.filter.empty()) return false;
      view.filter.clear();
      break;
    case Key::What::text:
      if (key.text == "q" || key.text == "Q") return false;
      if (key.text == "k") scroll(view, -1, rows);
      if (key.text == "j") scroll(view, 1, rows);
      if (key.text == "g") scroll(view, -everything, rows);
      if (key.text == "G") scroll(view, everything, rows);
      if (key.text == " ") scroll(view, page, rows);
      if (key.text == "/") view.is_typing = true;
      break;
    default: break;
  }
  return true;
}

void keep_in_sight(View& view, std::size_t rows) {
  const auto count = shown(view).size();
  view.top = std::min(view.top, count > rows ? count - rows : 0);
}

}  // namespace holdfast::cli
