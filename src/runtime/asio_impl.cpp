// SPDX-License-Identifier: Apache-2.0
// The one translation unit that compiles Asio; everyone else includes only its declarations.
#include <boost/asio/impl/src.hpp>
