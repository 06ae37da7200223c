// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <string_view>

namespace holdfast::test {

// Random input with a printed seed; HOLDFAST_SEED repeats a run.
class Random {
 public:
  Random() : engine_(seed_) { std::cout << "HOLDFAST_SEED=" << seed_ << '\n'; }

  std::uint64_t bits() { return engine_(); }
  std::size_t below(std::size_t end) { return bits() % end; }
  bool one_in(std::size_t n) { return below(n) == 0; }

  std::string bytes(std::size_t max_size) {
    std::string text(below(max_size + 1), '\0');
    for (char& byte : text) byte = static_cast<char>(bits());
    return text;
  }
  std::string text_of(std::string_view alphabet, std::size_t max_size) {
    std::string text(below(max_size + 1), '\0');
    for (char& byte : text) byte = alphabet[below(alphabet.size())];
    return text;
  }

 private:
  static std::uint64_t choose_seed() {
    const char* given = std::getenv("HOLDFAST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  }

  std::uint64_t seed_ = choose_seed();
  std::mt19937_64 engine_;
};

}  // namespace holdfast::test
