// SPDX-License-Identifier: Apache-2.0
#include "history/ids.hpp"
#include "history/jsonl.hpp"
#include "history/jsonl_format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::history {

namespace {

constexpr auto most_number = static_cast<std::uint64_t>(for_ever);

// Finds a word of a fixed list by its length and its ends, then compares once.
template <std::size_t Size>
class Words {
 public:
  template <typename NameOf>
  explicit Words(NameOf name_of) {
    for (std::size_t i = 0; i < Size; ++i) {
      std::size_t place = hash(name_of(i));
      while (slots_[place].is_used) place = (place + 1) % slots_.size();
      slots_[place] = {name_of(i), i, true};
    }
  }

  std::optional<std::size_t> find(std::string_view word) const {
    for (std::size_t place = hash(word); slots_[place].is_used;
         place = (place + 1) % slots_.size()) {
      if (slots_[place].word == word) return slots_[place].index;
    }
    return std::nullopt;
  }

 private:
  struct Slot {
    std::string_view word;
    std::size_t index = 0;
    bool is_used = false;
  };

  static std::size_t hash(std::string_view word) {
    if (word.empty()) return 0;
    const auto byte = [](char c) {
      return static_cast<std::size_t>(static_cast<unsigned char>(c));
    };
    return (word.size() * 37 + byte(word.front()) * 5 + byte(word.back()) * 11) % 256;
  }

  std::array<Slot, 256> slots_{};
};

class Reader {
 public:
  // An empty line is no event.
  bool read(std::string_view line) {
    ++line_number_;
    if (line.empty() || line == "\r") return true;
    if (line.size() > max_line_bytes) return fail("", "is longer than 1 MiB");
    const auto fields = json_.parse(line);
    if (!fields) return fail(fields.error().field, fields.error().why);
    return sort_fields(**fields) && read_event();
  }

  Parsed finish() {
    if (!error_.empty()) return std::unexpected(std::move(error_));
    return std::move(history_);
  }

 private:
  using Kind = FlatValue::Kind;

  bool fail(std::string_view field, std::string_view why) {
    error_ = field.empty() ? fmt::format("line {}: {}", line_number_, why)
                           : fmt::format("line {}: {}: {}", line_number_, field, why);
    return false;
  }
  bool fail(Field field, std::string_view why) { return fail(name_of(field), why); }
  static std::string_view name_of(Field field) {
    return field_names[static_cast<std::size_t>(field)];
  }

  bool has(Field field) const { return (present_ & bit(field)) != 0; }
  const FlatValue& value(Field field) const { return values_[static_cast<std::size_t>(field)]; }

  bool sort_fields(const std::vector<FlatField>& fields) {
    static const Words<field_names.size()> words([](std::size_t i) { return field_names[i]; });
    present_ = 0;
    for (const FlatField& field : fields) {
      const auto known = words.find(field.name);
      if (!known) return fail(field.name, "is not a field of any event");
      const Fields mask = 1U << *known;
      if ((present_ & mask) != 0) return fail(field.name, "stands there twice");
      present_ |= mask;
      values_[*known] = field.value;
    }
    return true;
  }

  bool find_format() {
    static const Words<event_formats.size()> words(
        [](std::size_t i) { return event_formats[i].name; });
    if (!has(Field::at_ns)) return fail(Field::at_ns, "is missing");
    if (!has(Field::event)) return fail(Field::event, "is missing");
    if (value(Field::event).kind != Kind::text) return fail(Field::event, "must be a string");
    const auto known = words.find(value(Field::event).text);
    if (!known) return fail(Field::event, "is not a known event");
    event_ = {.what = static_cast<What>(*known)};
    return check_fields(event_formats[*known]);
  }

  bool check_fields(const EventFormat& format) {
    const Fields always = set_of(Field::at_ns, Field::event);
    const Fields missing = format.required & ~present_;
    const Fields needless = present_ & ~(format.required | format.optional | always);
    for (std::size_t i = 0; i < field_names.size() && (missing | needless) != 0; ++i) {
      if ((missing >> i & 1U) != 0) {
        return fail(field_names[i], fmt::format("is missing; {} needs it", format.name));
      }
      if ((needless >> i & 1U) != 0) {
        return fail(field_names[i], fmt::format("does not belong to {}", format.name));
      }
    }
    return true;
  }

  bool read_event() {
    if (!find_format() || !read_time(Field::at_ns, event_.at)) return false;
    if (event_.what == What::asked) {
      if (!read_attempt()) return false;
    } else if (!read_attempt_of_event()) {
      return false;
    }
    if (!read_numbers() || !read_rest()) return false;
    history_.events.push_back(event_);
    return true;
  }

  bool read_attempt_of_event() {
    return read_op(Field::op, event_.op) && read_op(Field::by, event_.by) && read_place_of_fault();
  }

  bool read_place_of_fault() {
    if (event_.op != 0) {
      event_.process = history_.attempt(event_.op).process;
      return true;
    }
    return read_id(Field::process, processes_, event_.process) && read_name(event_.name);
  }

  bool read_attempt() {
    Attempt attempt{.permits = all_, .capacity = all_};
    if (!is_id(Field::op)) return false;
    if (ops_.find(value(Field::op)) != 0) return fail(Field::op, "asks a second time");
    // Before it has a number itself, so that it cannot convert itself.
    if (!read_op(Field::converts, attempt.converts)) return false;
    event_.op = ops_.get(value(Field::op));
    if (!read_name(attempt.name) || !read_id(Field::process, processes_, attempt.process) ||
        !read_id(Field::owner, owners_, attempt.owner) || !read_share(attempt) ||
        !read_flag(Field::reentrant, attempt.reentrant) || !read_flag(Field::fifo, attempt.fifo) ||
        !read_flag(Field::waits, attempt.waits) || !read_time(Field::ttl_ns, attempt.ttl) ||
        !read_time(Field::give_up_ns, attempt.give_up) ||
        !read_flag(Field::renews, attempt.renews) ||
        !read_time(Field::max_hold_ns, attempt.max_hold) ||
        !read_time(Field::least_ttl_ns, attempt.least_ttl)) {
      return false;
    }
    if (!has(Field::owner)) attempt.owner = owners_.fresh();
    event_.process = attempt.process;
    history_.attempts.push_back(attempt);
    return true;
  }

  bool read_share(Attempt& attempt) {
    if (!read_count(Field::permits, attempt.permits)) return false;
    if (!read_count(Field::capacity, attempt.capacity)) return false;
    if (attempt.permits == 0) return fail(Field::permits, "must be at least 1");
    if (attempt.permits <= attempt.capacity) return true;
    return fail(Field::permits, "must not be larger than the capacity");
  }

  bool read_numbers() {
    if (!read_time(Field::until_ns, event_.until) || !read_time(Field::since_ns, event_.since) ||
        !read_fence() || !read_flag(Field::accepted, event_.accepted) ||
        !read_flag(Field::claim, event_.claim) || !read_flag(Field::delays, event_.delays)) {
      return false;
    }
    for (const Field field : {Field::place, Field::value, Field::left, Field::step_ns}) {
      if (!read_number(field, event_.number)) return false;
    }
    return true;
  }

  bool read_rest() {
    if (event_.what == What::calm) {
      Time patience = 0;
      if (!read_time(Field::patience_ns, patience)) return false;
      event_.until = patience > for_ever - event_.at ? for_ever : event_.at + patience;
    }
    return read_detail();
  }

  bool read_detail() {
    static const Words<detail_names.size()> words([](std::size_t i) { return detail_names[i]; });
    if (!has(Field::detail)) return true;
    if (value(Field::detail).kind != Kind::text) return fail(Field::detail, "must be a string");
    const auto known = words.find(value(Field::detail).text);
    event_.detail = known ? static_cast<Detail>(*known) : Detail::other;
    return true;
  }

  bool is_id(Field field) {
    const FlatValue& called = value(field);
    if (called.kind == Kind::text) return true;
    if (called.kind == Kind::whole_number && called.magnitude <= most_number) return true;
    return fail(field, "must be a string or a whole number");
  }

  bool read_id(Field field, Ids& ids, std::uint32_t& into) {
    if (!has(field)) return true;
    if (!is_id(field)) return false;
    into = ids.get(value(field));
    return true;
  }

  // Where the field is missing nobody is meant.
  bool read_op(Field field, OpId& into) {
    if (!has(field)) return true;
    if (!is_id(field)) return false;
    into = ops_.find(value(field));
    return into != 0 || fail(field, "was not asked for before");
  }

  bool read_name(NameId& into) {
    if (!read_id(Field::name, names_, into)) return false;
    if (into <= history_.names.size()) return true;
    const FlatValue& called = value(Field::name);
    const char* sign = called.negative ? "-" : "";
    history_.names.push_back(called.kind == Kind::text
                                 ? std::string(called.text)
                                 : fmt::format("{}{}", sign, called.magnitude));
    return true;
  }

  // Times are never negative. "never" lies after all of them.
  bool read_time(Field field, Time& into) {
    if (!has(field)) return true;
    const FlatValue& time = value(field);
    if (time.kind == Kind::text && time.text == "never" &&
        (field == Field::until_ns || field == Field::give_up_ns)) {
      into = for_ever;
      return true;
    }
    if (time.kind != Kind::whole_number || time.negative || time.magnitude > most_number) {
      return fail(field, "must be a whole number of nanoseconds, 0 or more");
    }
    into = static_cast<Time>(time.magnitude);
    return true;
  }

  bool read_fence() {
    if (!has(Field::fence)) return true;
    const FlatValue& fence = value(Field::fence);
    if (fence.kind != Kind::whole_number || fence.negative) {
      return fail(Field::fence, "must be a whole number, 0 or more");
    }
    event_.fence = fence.magnitude;
    return true;
  }

  bool read_number(Field field, std::int64_t& into) {
    if (!has(field)) return true;
    const FlatValue& number = value(field);
    if (number.kind != Kind::whole_number || number.magnitude > most_number) {
      return fail(field, "must be a whole number of at most 63 bits");
    }
    const auto magnitude = static_cast<std::int64_t>(number.magnitude);
    into = number.negative ? -magnitude : magnitude;
    return true;
  }

  bool read_count(Field field, std::uint32_t& into) {
    if (!has(field)) return true;
    const FlatValue& count = value(field);
    if (count.kind == Kind::text && count.text == "all") return into = all_, true;
    if (count.kind != Kind::whole_number || count.negative || count.magnitude >= all_) {
      return fail(field, "must be \"all\" or a whole number below 4294967295");
    }
    into = static_cast<std::uint32_t>(count.magnitude);
    return true;
  }

  bool read_flag(Field field, bool& into) {
    if (!has(field)) return true;
    if (value(field).kind != Kind::boolean) return fail(field, "must be true or false");
    into = value(field).truth;
    return true;
  }

  static constexpr std::uint32_t all_ = std::numeric_limits<std::uint32_t>::max();

  FlatJson json_;
  History history_;
  Event event_;
  Ids ops_;
  Ids names_;
  Ids processes_;
  Ids owners_;
  std::array<FlatValue, field_names.size()> values_{};
  Fields present_ = 0;
  std::size_t line_number_ = 0;
  std::string error_;
};

// Hands every complete line of the text to the reader; what is left of the last one stays.
bool read_lines(Reader& reader, std::string_view& text) {
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    if (!reader.read(text.substr(0, end))) return false;
    text.remove_prefix(end + 1);
  }
  return true;
}

}  // namespace

Parsed read_jsonl(std::string_view text) {
  Reader reader;
  if (read_lines(reader, text) && !text.empty()) reader.read(text);
  return reader.finish();
}

Parsed read_jsonl(std::FILE* file) {
  Reader reader;
  std::string buffer(2 * max_line_bytes, '\0');
  std::size_t kept = 0;
  while (true) {
    const std::size_t got = std::fread(buffer.data() + kept, 1, buffer.size() - kept, file);
    if (got == 0 && std::ferror(file) != 0) return std::unexpected("the file cannot be read");
    std::string_view text(buffer.data(), kept + got);
    if (!read_lines(reader, text)) break;
    const bool too_long = text.size() > max_line_bytes;
    if (got == 0 || too_long) {
      if (!text.empty()) reader.read(text);
      break;
    }
    kept = text.size();
    std::copy(text.begin(), text.end(), buffer.begin());
  }
  return reader.finish();
}

}  // namespace holdfast::history
