// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/completion/completion.hpp"
#include "cli/declared.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace holdfast::cli {
namespace {

constexpr std::string_view bash_head =
    R"bash(# Completions of holdfast for bash, made by 'holdfast completion bash'.

# Sets `words` to the words up to the cursor. Bash takes apart what holds a colon or an equals sign;
# here it is whole.
__holdfast_read_words() {
  local rest="${COMP_LINE-}" word i
  words=()
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    word="${COMP_WORDS[i]-}"
    if [[ $i -eq 0 || -z "${COMP_LINE-}" || "$rest" == [[:space:]]* ]]; then
      words+=("$word")
    else
      words[${#words[@]} - 1]+="$word"
    fi
    rest="${rest#"${rest%%[![:space:]]*}"}"
    rest="${rest#"$word"}"
  done
}

# Sets `plain` to a word without its quotes. Nothing in it is run or replaced.
__holdfast_unquote() {
  plain="${1#[\"\']}"
  [[ "$plain" == "$1" ]] || plain="${plain%"${1:0:1}"}"
  [[ "$1" == \'* ]] || plain="${plain//\\/}"
}

# Adds a word to the answer, unless it cannot stand behind the quote that was opened. What lies in
# front of the last colon or equals sign is already on the line.
__holdfast_add() {
  local word="$1" typed="$2" on_line
  case "$typed" in
    \"*) [[ "$word" != *[\"\$\`\\!]* ]] || return; typed="${typed:1}" ;;
    \'*) [[ "$word" != *\'* ]] || return; typed="${typed:1}" ;;
    *) printf -v word %q "$word" ;;
  esac
  on_line="${typed%"${typed##*[:=]}"}"
  [[ "$word" == "$on_line"* ]] || return
  COMPREPLY+=("${word#"$on_line"}")
}

# Offers values of a kind for what was typed of one.
__holdfast_offer() {
  local kind="$1" typed="$2" plain word
  __holdfast_unquote "$typed"
  case "$kind" in
    name)
      while IFS= read -r word; do
        __holdfast_add "$word" "$typed"
      done < <(command holdfast "${store[@]}" complete-names "$plain" 2>/dev/null)
      ;;
    file | folder) compopt -o default 2>/dev/null ;;
    choice:*)
      for word in ${kind#choice:}; do
        [[ "$word" != "$plain"* ]] || __holdfast_add "$word" "$typed"
      done
      ;;
  esac
}

)bash";

constexpr std::string_view bash_tail = R"bash(
_holdfast() {
  local words cword cur command='' arguments=0 separator=0 store=() kind options word plain i
  COMPREPLY=()
  __holdfast_read_words
  cword=$((${#words[@]} - 1))
  cur="${words[cword]}"
  for ((i = 1; i < cword; ++i)); do
    word="${words[i]}"
    __holdfast_value_of "$command" "$word"
    case "$word" in
      --) separator=$i; break ;;
      --store=* | --profile=* | --config=*)
        __holdfast_unquote "${word#*=}"
        store+=("${word%%=*}" "$plain")
        ;;
      --store | --profile | --config)
        ((i + 1 < cword)) || continue
        __holdfast_unquote "${words[i + 1]}"
        store+=("$word" "$plain")
        ;;
      -*) ;;
      *)
        if [[ -z "$command" ]]; then
          command="$word"
        elif [[ "$command" != *' '* && " $__holdfast_groups " == *" $command "* ]]; then
          command="$command $word"
        else
          arguments=$((arguments + 1))
        fi
        ;;
    esac
    # The value of an option, unless it is what is being typed.
    if [[ -n "$kind" ]] && ((i + 1 < cword)); then i=$((i + 1)); fi
  done

  if ((separator > 0)); then
    for ((i = 1; i < COMP_CWORD; ++i)); do
      [[ "${COMP_WORDS[i]}" != -- ]] || break
    done
    if declare -F _command_offset >/dev/null; then
      _command_offset $((i + 1))
    elif ((cword == separator + 1)); then
      mapfile -t COMPREPLY < <(compgen -c -- "$cur")
    else
      compopt -o default 2>/dev/null
    fi
    return
  fi

  kind=''
  if ((cword > 1)); then __holdfast_value_of "$command" "${words[cword - 1]}"; fi
  if [[ -n "$kind" ]]; then
    __holdfast_offer "$kind" "$cur"
  elif [[ "$cur" == --*=* ]]; then
    __holdfast_value_of "$command" "${cur%%=*}"
    __holdfast_offer "$kind" "${cur#*=}"
  elif [[ "$cur" == -* ]]; then
    __holdfast_options_of "$command"
    __holdfast_offer "choice:$options" "$cur"
  elif [[ -z "$command" ]]; then
    __holdfast_offer "choice:$__holdfast_commands" "$cur"
  else
    __holdfast_argument_of "$command" $((arguments + 1))
    __holdfast_offer "$kind" "$cur"
  fi
}
complete -F _holdfast holdfast
)bash";

std::string kind_of(const DeclaredValue& value) {
  switch (value.kind) {
    case ValueKind::lock_name: return "name";
    case ValueKind::file: return "file";
    case ValueKind::folder: return "folder";
    case ValueKind::command: return "\"choice:$__holdfast_commands\"";
    case ValueKind::choice:
      return shell_quoted(fmt::format("choice:{}", fmt::join(value.choices, " ")));
    case ValueKind::other: break;
  }
  return "other";
}

// Lines of a case over "COMMAND OPTION"; a command of "*" means any.
std::string value_cases(std::string_view command, const std::vector<DeclaredOption>& options) {
  std::string out;
  for (const auto& option : options) {
    if (option.value.word.empty()) continue;
    for (const auto& name : option.names) {
      const auto pattern =
          command == "*" ? "*' " + name + "'" : fmt::format("'{} {}'", command, name);
      out += fmt::format("    {}) kind={} ;;\n", pattern, kind_of(option.value));
    }
  }
  return out;
}

std::string words_of(const std::vector<DeclaredOption>& options) {
  std::vector<std::string> names;
  for (const auto& option : options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("{}", fmt::join(names, " "));
}

struct Tables {
  std::string commands;
  std::string groups;  // those with subcommands
  std::string values;
  std::string options;
  std::string arguments;

  void add(const Command& command) {
    const auto parts = declared(command);
    const bool is_subcommand = command.name.find(' ') != std::string_view::npos;
    if (!is_subcommand) commands += fmt::format("{}{}", commands.empty() ? "" : " ", command.name);
    if (!subcommands_of(command).empty()) groups += fmt::format("{} ", command.name);
    values += value_cases(command.name, parts.options);
    options += fmt::format("    '{}') options='{} {}' ;;\n", command.name, words_of(parts.options),
                           words_of(common_options()));
    for (std::size_t i = 0; i < parts.arguments.size(); ++i) {
      arguments += fmt::format("    '{} {}') kind={} ;;\n", command.name, i + 1,
                               kind_of(parts.arguments[i].value));
    }
  }
};

}  // namespace

std::string bash_completion() {
  Tables tables;
  for (const auto* command : shown_commands()) tables.add(*command);
  std::string out(bash_head);
  out += fmt::format("__holdfast_commands='{}'\n__holdfast_groups='{}'\n\n", tables.commands,
                     tables.groups);
  out +=
      "# Sets `kind` to what the option of the command takes, or to nothing.\n"
      "__holdfast_value_of() {\n  case \"$1 $2\" in\n" +
      value_cases("*", common_options()) + tables.values + "    *) kind= ;;\n  esac\n}\n\n";
  out += "__holdfast_options_of() {\n  case \"$1\" in\n" + tables.options +
         fmt::format("    *) options='{}' ;;\n  esac\n}}\n\n", words_of(options_without_command()));
  out += "__holdfast_argument_of() {\n  case \"$1 $2\" in\n" + tables.arguments +
         "    *) kind= ;;\n  esac\n}\n";
  return out.append(bash_tail);
}

}  // namespace holdfast::cli
