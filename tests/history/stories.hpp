// SPDX-License-Identifier: Apache-2.0
//
// Good histories, one for each kind of lock. The tests break them.
#pragma once

namespace holdfast::history::test {

// A fifo mutex with two waiters, the store watched.
inline constexpr const char* hand_over = R"(
  0 asked a fifo waits process=p1
  1 held a fence=10 until=101 since=0
  2 granted a fence=10 until=97
  3 read a fence=10 value=0
  4 wrote a fence=10 value=1
  10 asked b fifo waits process=p2
  12 queued b place=5
  20 asked c fifo waits process=p3
  22 queued c place=6
  30 renewing a
  31 held a fence=10 until=131 since=30
  32 renewed a since=30 until=127
  50 releasing a
  51 freed a by=a
  51 held b fence=11 until=151
  52 released a detail=released
  53 granted b fence=11 until=147
  54 read b fence=11 value=1
  55 wrote b fence=11 value=2
  60 releasing b
  61 freed b by=b
  61 held c fence=12 until=161
  62 released b detail=released
  63 granted c fence=12 until=157
  64 wrote c fence=12 value=3
  70 releasing c
  71 freed c by=c
  72 released c detail=released
  5000 ended
)";

// A mutex that nobody watches: what callers were told is all there is. The first lease is lost.
inline constexpr const char* told_only = R"(
  0 asked a process=p1
  2 granted a fence=10 until=97
  4 wrote a fence=10 value=7
  30 renewing a
  32 renewed a since=30 until=127
  40 unreachable process=p1 until=300
  63 renewing a
  127 lost a
  200 asked b process=p2
  202 granted b fence=11 until=297
  203 read b fence=11 value=7
  204 wrote b fence=11 value=8
  205 wrote a fence=10 value=8 since=120 refused
  210 releasing a
  212 released a detail=held_by_another
  220 releasing b
  222 released b detail=released
  250 asked c process=p1
  252 failed c detail=busy
  5000 ended
)";

// Two readers, a writer that waits for both, and a reader after it.
inline constexpr const char* readers = R"(
  0 asked r fifo waits permits=1 process=p1
  1 held r fence=10 until=101 since=0
  2 granted r fence=10 until=97
  3 asked s fifo waits permits=1 process=p2
  4 held s fence=11 until=104 since=3
  5 granted s fence=11 until=100
  10 asked w fifo waits process=p3
  12 queued w place=5
  14 asked t fifo waits permits=1 process=p4
  16 queued t place=6
  20 releasing r
  21 freed r by=r
  22 released r detail=released
  30 releasing s
  31 freed s by=s
  31 held w fence=12 until=131
  32 released s detail=released
  33 granted w fence=12 until=127
  34 wrote w fence=12 value=1
  40 releasing w
  41 freed w by=w
  41 held t fence=13 until=141
  42 released w detail=released
  43 granted t fence=13 until=137
  44 read t fence=13 value=1
  50 releasing t
  51 freed t by=t
  52 released t detail=released
  5000 ended
)";

// Three permits. The third attempt wants two and waits; the fourth came after it.
inline constexpr const char* semaphore = R"(
  0 asked a fifo waits permits=1 capacity=3
  1 held a fence=10 until=101 since=0
  2 granted a fence=10 until=97
  3 asked b fifo waits permits=1 capacity=3
  4 held b fence=11 until=104 since=3
  5 granted b fence=11 until=100
  6 asked c fifo waits permits=2 capacity=3
  8 queued c place=5
  9 asked d fifo waits permits=1 capacity=3
  11 queued d place=6
  20 releasing a
  21 freed a by=a
  21 held c fence=12 until=121
  22 released a detail=released
  23 granted c fence=12 until=117
  30 releasing b
  31 freed b by=b
  31 held d fence=13 until=131
  32 released b detail=released
  33 granted d fence=13 until=127
  40 releasing c
  41 freed c by=c
  42 released c detail=released
  43 releasing d
  44 freed d by=d
  45 released d detail=released
  5000 ended
)";

// An owner enters twice, past another that waits.
inline constexpr const char* reentrant = R"(
  0 asked a reentrant fifo waits owner=me process=p1
  1 held a fence=10 until=101 since=0
  2 granted a fence=10 until=97
  5 asked b reentrant fifo waits owner=you process=p2
  7 queued b place=5
  10 asked c reentrant fifo waits owner=me process=p1
  11 held c fence=10 until=111 since=10
  12 granted c fence=10 until=107
  20 releasing a
  21 freed a by=a left=1
  22 released a detail=released
  30 releasing c
  31 freed c by=c
  31 held b fence=11 until=131
  32 released c detail=released
  33 granted b fence=11 until=127
  40 releasing b
  41 freed b by=b
  42 released b detail=released
  50 asked d reentrant fifo waits owner=me process=p1
  51 held d fence=12 until=151 since=50
  52 granted d fence=12 until=147
  60 releasing d
  61 freed d by=d
  62 released d detail=released
  5000 ended
)";

// A reader becomes the writer, and a reader again: `u` stands for the time as a writer.
inline constexpr const char* upgrade = R"(
  0 asked r permits=1 process=p1
  1 held r fence=10 until=101 since=0
  2 granted r fence=10 until=97
  3 asked s permits=1 process=p2
  4 held s fence=11 until=104 since=3
  5 granted s fence=11 until=100
  10 asked u waits converts=r process=p1 owner=r
  12 queued u place=0
  20 releasing s
  21 freed s by=s
  22 released s detail=released
  23 granted u fence=12 until=97
  24 wrote u fence=12 value=1
  30 renewed r since=28 until=125
  30 renewed u since=28 until=125
  40 releasing u
  45 asked t permits=1 process=p3
  46 held t fence=13 until=146 since=45
  47 granted t fence=13 until=142
  50 releasing r
  51 freed r by=r
  52 released r detail=released
  60 releasing t
  61 freed t by=t
  62 released t detail=released
  5000 ended
)";

// A writer asks to be a reader only, and another reader enters before it has the answer.
inline constexpr const char* downgrade = R"(
  0 asked w process=p1
  1 held w fence=10 until=101 since=0
  2 granted w fence=10 until=97
  10 asked d permits=1 converts=w process=p1 owner=w
  11 asked r permits=1 process=p2
  12 held r fence=11 until=112 since=11
  13 granted r fence=11 until=109
  14 granted d fence=10 until=97
  20 releasing d
  20 releasing w
  21 freed w by=d
  22 released w detail=released
  30 releasing r
  31 freed r by=r
  32 released r detail=released
  5000 ended
)";

// A fifo mutex with two waiters that nobody watches.
inline constexpr const char* line = R"(
  0 asked a fifo process=p1
  2 granted a fence=10 until=97
  10 asked b fifo waits process=p2
  12 queued b place=5
  20 asked c fifo waits process=p3
  22 queued c place=6
  50 releasing a
  52 released a detail=released
  53 granted b fence=11 until=147
  60 releasing b
  62 released b detail=released
  63 granted c fence=12 until=157
  70 releasing c
  72 released c detail=released
  5000 ended
)";

// A process is stopped over the end of its lease and says so when it wakes up; another crashes.
inline constexpr const char* stopped = R"(
  0 asked a process=p1
  1 held a fence=10 until=101 since=0
  2 granted a fence=10 until=97
  50 stopped process=p1 until=120
  110 stopped process=p1 until=140
  120 asked b process=p2
  121 held b fence=11 until=221 since=120
  122 granted b fence=11 until=217
  140 lost a
  150 stopped process=p2 until=never
  300 asked c process=p3
  301 held c fence=12 until=401 since=300
  302 granted c fence=12 until=397
  310 releasing c
  311 freed c by=c
  312 released c detail=released
  5000 ended
)";

// A lease that is renewed, and given back.
inline constexpr const char* kept = R"(
  0 asked a renews process=p1
  2 granted a fence=10 until=97
  33 renewing a
  34 renewed a since=33 until=130
  66 renewing a
  67 renewed a since=66 until=163
  80 releasing a
  82 released a detail=released
  5000 ended
)";

// A waiter is handed the lock, starts with a claim of half a second and confirms it.
inline constexpr const char* handed = R"(
  0 asked a process=p1 ttl=3000
  2 granted a fence=10 until=2970
  4 asked b fifo waits renews process=p2 ttl=3000
  50 releasing a
  52 released a detail=released
  53 granted b fence=11 until=546 claim
  61 renewing b
  62 renewed b since=61 until=3029
  70 stopped process=p2 until=900
  950 releasing b
  952 released b detail=released
  5000 ended
)";

// The first question is granted and its answer lost, the second one finds nobody. The caller hears
// that, and what it may have left is given back.
inline constexpr const char* refused = R"(
  0 asked a process=p1 ttl=3000
  1 held a fence=10 until=3001 since=0
  2 unreachable process=p1 until=2
  10 failed a detail=unavailable
  20 freed a by=a
  30 asked b process=p2 ttl=3000
  31 held b fence=11 until=3031 since=30
  32 granted b fence=11 until=3000
  40 releasing b
  41 freed b by=b
  42 released b detail=released
  5000 ended
)";

// Faults end, and who waits is served.
inline constexpr const char* calm = R"(
  0 asked a fifo waits process=p1
  1 held a fence=10 until=101 since=0
  2 granted a fence=10 until=97
  5 asked b fifo waits process=p2
  7 queued b place=5
  8 asked c fifo waits process=p3 give_up=350
  9 queued c place=6
  10 asked d fifo waits process=p4
  20 unreachable until=60
  30 stopped process=p4 until=never
  97 lost a
  100 calm patience=50
  120 held b fence=11 until=220
  125 granted b fence=11 until=216
  216 lost b
  350 failed c detail=timed_out
  5000 ended
)";

}  // namespace holdfast::history::test
