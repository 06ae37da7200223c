// SPDX-License-Identifier: Apache-2.0
//
// Debian ships fmt as a shared library only. The program carries its own copy of what it calls, see
// cmake/CommandLine.cmake.
#include <fmt/format-inl.h>

#include <locale>

FMT_BEGIN_NAMESPACE
namespace detail {

template std::locale locale_ref::get<std::locale>() const;
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template char decimal_point_impl(locale_ref);

}  // namespace detail
FMT_END_NAMESPACE
