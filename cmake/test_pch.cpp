// SPDX-License-Identifier: Apache-2.0
// Gives the tests' precompiled header a target to live in, even while tests/support has no sources.
