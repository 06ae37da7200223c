// SPDX-License-Identifier: Apache-2.0
//
// One fifo mutex, three clients and a fenced resource, for an exhaustive search by spin. `run` has
// the scopes and the planted mistakes; docs/model.md says what is left out, and why.
//
// Deadlines are ticks that count down, and fences are ranks. So the states are finite although the
// histories have no longest one. The store's clock is the true one.
//
// Scopes, one of them defined:
//   EXCLUSION  the store keeps its data; questions are lost, late and repeated
//   SKEW       the same without late questions; the clock of client 0 is not exact
//   AMNESIA    the store may restart without its data at any time; fences, and the resource
//   SERVICE    at some moment the faults stop for good; whoever waits then must be served

#define CLIENTS 3
#ifndef TTL
#define TTL 3
#endif
#ifndef CLAIM
#define CLAIM 2
#endif
#ifdef NO_DRIFT_ALLOWANCE
#define DRIFT 0
#else
#define DRIFT 1
#endif
#ifndef SERVED_WITHIN
#define SERVED_WITHIN (TTL + PLACES * CLAIM)
#endif

#define at_least(floor, x) ((x) > (floor) -> (x) : (floor))
#define at_most(ceiling, x) ((x) < (ceiling) -> (x) : (ceiling))
#define minus(x, y) ((x) > (y) -> (x) - (y) : 0)

// ---- What is on the wire: a question, or the answer to it.

#define NOTHING 0
#define ACQUIRE 1
#define RENEW 2
#define RELEASE 3
#define is_question(w) (w >= ACQUIRE && w <= RELEASE)
#define GRANTED 4
#define QUEUED 5
#define NOT_YOURS 6
#define REFUSED 7
#define is_answer(w) (w >= GRANTED)

// ---- The clients.

#define IDLE 0
#define ASKS 1    // an Acquire is on its way, or its answer
#define WAITS 2   // listens for a grant message, and asks again some time
#define HOLDS 3   // believes while `valid` is above zero
#define LEAVES 4  // a Release is on its way
byte phase[CLIENTS];
byte valid[CLIENTS];       // ticks left by the client's own clock
byte lease_fence[CLIENTS];

// A pair of clocks, as one number: the ticks that a question took to the store. With it the time
// inside a grant message becomes a local time that is never too late.
#define NO_PAIR (CLAIM - DRIFT + 1)
byte pair[CLIENTS] = NO_PAIR;

// One question or answer per client. For a question `aged` is the time since it was sent; for
// Granted it is what would be valid if it arrived now; for Queued it is the pair.
byte wire[CLIENTS];
byte aged[CLIENTS];
byte wire_fence[CLIENTS];
#define USELESS_AGE (TTL - DRIFT)

// The grant message of a hand-over: what is left of the claim, by the store's clock, less drift.
byte grant_left[CLIENTS];
byte grant_fence[CLIENTS];

// A question whose sender gave up on it, and which may reach the store at any later time.
#define GIVEN_UP CLIENTS
#define NOBODY (CLIENTS + 1)
byte late = NOTHING;
byte late_from = NOBODY;

// The clock of client 0 may stand still for a tick, and make up for it later.
bit behind;
#define lag(c) ((c) == 0 -> behind : 0)
#define lag_at_most(c) ((c) == 0 -> 1 : 0)

// ---- The store.

// Who holds or waits: the current request of a client, or a request whose client has given it up.
// All requests of the second kind are alike, which allows them more than any one of them could do.
byte holder = NOBODY;
bit claimed;  // handed over, and not confirmed yet
byte left;    // an expired lease stays, with 0 left, until the next command finds it
#define PLACES 2
#define FREE 0
byte queue[PLACES];  // who + 1, without gaps
bit down;

// Fences by rank: the numbers that anybody still knows, without the gaps between them.
byte newest;

// The counter as the store keeps it and the largest fence ever given out, both less the wall clock.
#define GRANTS_PER_TICK 2  // the wall clock advances by as much
#define LONG_AGO (-2)
short counter = LONG_AGO;
short largest = LONG_AGO;
byte granted_now;

// ---- The resource.

byte seen;     // the newest fence it accepted
byte stalled;  // of a write whose client checked its lease and was then stopped

// ---- The end of all faults (SERVICE).

bit calm;
bit asked[CLIENTS];  // in this tick
byte waited;         // ticks that client 0 has waited since, until it holds

// ---- What must never be. Each is looked at where it could become true.

bit two_believers, believer_without_lease, fence_did_not_grow, older_fence_accepted;
bit renewed_anothers_lease, released_anothers_lease, waiter_not_served;

// Scratch, zero between two moves, so that it does not tell states apart.
byte i, n, next, outcome, was_holder, was_left;
bit is_mine, was_claimed, is_used;
short minted;

// Clients are alike, so of the states that only differ in their names one is enough: the one whose
// clients are in order. Client 0 keeps its name where it is special.
#define order(c) (phase[c] + 8 * wire[c] + 64 * aged[c] + 256 * valid[c] + \
                  1024 * grant_left[c] + 4096 * (holder == c) + 8192 * (queue[0] == c + 1) + \
                  16384 * (queue[1] == c + 1) + 32768 * (late_from == c) + \
                  65536 * pair[c] + 262144 * lease_fence[c])

inline exchange(x, y) { n = x; x = y; y = n }

inline rename(x, a, b) {
  if :: x == a -> x = b :: x == b -> x = a :: else fi
}

inline put_in_order(a, b) {
  if
  :: order(a) > order(b) ->
     exchange(phase[a], phase[b]);
     exchange(valid[a], valid[b]);
     exchange(lease_fence[a], lease_fence[b]);
     exchange(pair[a], pair[b]);
     exchange(wire[a], wire[b]);
     exchange(aged[a], aged[b]);
     exchange(wire_fence[a], wire_fence[b]);
     exchange(grant_left[a], grant_left[b]);
     exchange(grant_fence[a], grant_fence[b]);
     exchange(asked[a], asked[b]);
     rename(holder, a, b);
     rename(late_from, a, b);
     rename(queue[0], a + 1, b + 1);
     rename(queue[1], a + 1, b + 1)
  :: else
  fi
}

inline tidy_up() {
#ifndef NAMES_MATTER
  put_in_order(1, 2);
#if defined(EXCLUSION) || defined(AMNESIA)
  put_in_order(0, 1);
  put_in_order(1, 2);
#endif
#endif
  i = 0; n = 0; next = 0; outcome = 0; minted = 0;
  is_mine = 0; is_used = 0; was_holder = 0; was_claimed = 0; was_left = 0
}

#define holds_in_store(c) (holder == (c) && left > 0)
#define strays(c) (valid[c] > 0 && !holds_in_store(c))

inline check_belief() {
#ifndef AMNESIA
  two_believers = (valid[0] > 0) + (valid[1] > 0) + (valid[2] > 0) > 1;
  assert(!two_believers);
#ifdef STRICT
  believer_without_lease = strays(0) || strays(1) || strays(2);
  assert(!believer_without_lease);
#endif
#else
  skip
#endif
}

// ---- Fences.

inline close_gap(rank, gap) {
  if :: rank > gap -> rank-- :: else fi
}

#define knows(c, rank) \
  (lease_fence[c] == rank || wire_fence[c] == rank || grant_fence[c] == rank)

inline forget_unknown_fences() {
  i = 1;
  do
  :: i < newest ->
     is_used = seen == i || stalled == i || knows(0, i) || knows(1, i) || knows(2, i);
     if
     :: is_used -> i++
     :: else ->
        newest--;
        close_gap(seen, i);
        close_gap(stalled, i);
        for (n : 0 .. CLIENTS - 1) {
          close_gap(lease_fence[n], i);
          close_gap(wire_fence[n], i);
          close_gap(grant_fence[n], i)
        }
     fi
  :: else -> break
  od
}

// The rule of src/model/fence_counter.cpp: one more, and never behind the wall clock.
inline mint() {
#ifdef AMNESIA
  minted = counter + 1;
#ifdef COUNTER_LOST
  fence_did_not_grow = minted <= largest;
  assert(!fence_did_not_grow);
  minted = 0;
#else
  if :: minted < 0 -> minted = 1 :: else fi;
  fence_did_not_grow = minted <= largest;
  assert(!fence_did_not_grow);
#endif
  counter = minted;
  largest = minted;
  granted_now++;
  newest++;
  forget_unknown_fences()
#else
  skip
#endif
}

// ---- The step of the store: src/model/step.cpp and queue.cpp for a fifo mutex.

inline remove_waiter(who) {
  n = 0;
  for (i : 0 .. PLACES - 1) {
    if
    :: queue[i] != FREE && queue[i] != who + 1 -> queue[n] = queue[i]; n++
    :: else
    fi
  }
  for (i : n .. PLACES - 1) { queue[i] = FREE }
}

inline free_lock() {
  holder = NOBODY;
  claimed = 0;
  left = 0
}

inline grant_to(who, lease) {
  holder = who;
  left = lease;
  mint()
}

// `caller` needs no message and no claim.
inline hand_over(caller) {
  if
  :: holder == NOBODY && queue[0] != FREE ->
     next = queue[0] - 1;
     queue[0] = queue[1];
     queue[1] = FREE;
     if
     :: next == caller -> grant_to(next, TTL)
     :: else ->
        grant_to(next, CLAIM);
        claimed = 1;
        if
        :: next != GIVEN_UP -> grant_left[next] = CLAIM - DRIFT; grant_fence[next] = newest
        :: else
        fi
     fi
  :: else
  fi
}

inline extend() { left = at_least(TTL, left) }

inline apply_acquire(who) {
  if
  :: is_mine ->
     if :: claimed -> extend() :: else fi;
     claimed = 0;
     outcome = GRANTED
  :: holder == NOBODY && queue[0] == FREE ->
     grant_to(who, TTL);
     outcome = GRANTED
  :: else ->
     n = 0;
     do
     :: n < PLACES && queue[n] != FREE && queue[n] != who + 1 -> n++
     :: else -> break
     od;
     if
     :: n == PLACES -> outcome = REFUSED
     :: else -> queue[n] = who + 1; outcome = QUEUED
     fi;
     hand_over(who);
     if :: holder == who -> outcome = GRANTED :: else fi
  fi
}

inline apply_renew(who) {
  if
  :: is_mine -> extend(); claimed = 0; outcome = GRANTED
#ifdef RENEW_AFTER_EXPIRY
  :: else -> holder = who; claimed = 0; left = TTL; outcome = GRANTED
#else
  :: else -> outcome = NOT_YOURS
#endif
  fi
}

inline apply_release(who) {
#ifdef RELEASE_WITHOUT_OWNER
  free_lock();
#else
  if :: is_mine -> free_lock() :: else fi;
#endif
  remove_waiter(who)
}

#define has_changed (was_holder != holder || was_claimed != claimed || was_left != left)

inline step(who, verb) {
  if :: left == 0 -> free_lock() :: else fi;
  is_mine = holder == who;
  was_holder = holder;
  was_claimed = claimed;
  was_left = left;
  if
  :: verb == ACQUIRE -> apply_acquire(who)
  :: verb == RENEW ->
     apply_renew(who);
     renewed_anothers_lease = !is_mine && has_changed;
     assert(!renewed_anothers_lease)
  :: verb == RELEASE ->
     apply_release(who);
     released_anothers_lease = !is_mine && has_changed;
     assert(!released_anothers_lease)
  fi;
  hand_over(NOBODY);
  check_belief()
}

#ifdef AMNESIA
// As many grants as the wall clock has ticks, and none before it has moved on after a restart.
#define store_answers (!down && granted_now < GRANTS_PER_TICK)
#else
#define store_answers true
#endif

// ---- What clients do.

inline clear_wire(c) {
  wire[c] = NOTHING;
  aged[c] = 0;
  wire_fence[c] = 0
}

// An answer that took longer than the lease lasts is as good as none.
inline drop_useless_grant(c) {
  if
  :: aged[c] == 0 ->
     clear_wire(c);
     if :: phase[c] == ASKS -> phase[c] = WAITS :: else fi
  :: else
  fi
}

// The end of an attempt. Whatever is left of it anywhere is given up.
inline finish(c) {
  phase[c] = IDLE;
  valid[c] = 0;
  lease_fence[c] = 0;
  pair[c] = NO_PAIR;
  grant_left[c] = 0;
  grant_fence[c] = 0;
  clear_wire(c);
  if :: holder == c -> holder = GIVEN_UP :: else fi;
  for (n : 0 .. PLACES - 1) {
    if :: queue[n] == c + 1 -> queue[n] = GIVEN_UP + 1 :: else fi
  }
#ifndef SHARED_TOKEN
  if :: late != NOTHING && late_from == c -> late_from = GIVEN_UP :: else fi
#else
  skip
#endif
}

inline send(c, verb) {
  clear_wire(c);
  wire[c] = verb
}

inline win(c, ticks, fence) {
  phase[c] = HOLDS;
  valid[c] = ticks;
  lease_fence[c] = fence;
  pair[c] = NO_PAIR;
  grant_left[c] = 0;
  grant_fence[c] = 0;
  clear_wire(c);
#ifdef SERVICE
  if :: c == 0 -> waited = 0 :: else fi;
#endif
  check_belief()
}

inline read_answer(c) {
  if
  :: phase[c] == ASKS && wire[c] == GRANTED -> win(c, aged[c], wire_fence[c])
  :: phase[c] == ASKS && wire[c] == QUEUED ->
     pair[c] = aged[c];
     phase[c] = WAITS;
     clear_wire(c)
  :: phase[c] == HOLDS && wire[c] == GRANTED ->
     valid[c] = at_least(valid[c], aged[c]);
     clear_wire(c);
     check_belief()
  :: phase[c] == HOLDS && wire[c] == NOT_YOURS -> valid[c] = 0; clear_wire(c)
  fi
}

// Starts at once if message and pair leave any time. The C++ client wants half of the claim.
#ifdef VALID_FROM_RECEIPT
#define claim_valid(c) (CLAIM - DRIFT)
#else
#define claim_valid(c) at_most(CLAIM - DRIFT, minus(grant_left[c] + lag(c), pair[c]))
#endif
#define can_start_at_once(c) (grant_left[c] > 0 && pair[c] != NO_PAIR && claim_valid(c) > 0)

// A question that its client no longer waits for is lost, or it comes late.
#ifdef EXCLUSION
#define can_be_late(c) (is_question(wire[c]) && late == NOTHING && !calm)
#else
#define can_be_late(c) false
#endif
inline make_late(c) {
  late = wire[c];
  late_from = c
}

inline write(fence) {
#ifdef NO_FENCE
  if
  :: true ->
#else
  if
  :: fence >= seen ->
#endif
     older_fence_accepted = fence < seen;
     assert(!older_fence_accepted);
     seen = fence
  :: else
  fi
}

#ifdef SERVICE
#define may_ask(c) (!calm || !asked[c])
#define stays_alive(c) (calm && (c) == 0)
#else
#define may_ask(c) true
#define stays_alive(c) false
#endif

inline ask(c) {
  phase[c] = ASKS;
  pair[c] = NO_PAIR;
  send(c, ACQUIRE);
#ifdef SERVICE
  asked[c] = calm
#endif
}

inline leave(c) {
  phase[c] = LEAVES;
  valid[c] = 0;
  lease_fence[c] = 0;
  send(c, RELEASE)
}

// No answer in time. From WAITS the same request is sent again, or withdrawn.
inline time_out(c) {
  clear_wire(c);
  if :: phase[c] == ASKS -> phase[c] = WAITS :: else fi
}

active [CLIENTS] proctype Client() {
  do
  :: d_step { phase[_pid] == IDLE && may_ask(_pid) -> ask(_pid); tidy_up() }
  :: d_step { is_answer(wire[_pid]) -> read_answer(_pid); tidy_up() }
  :: d_step { phase[_pid] == WAITS && may_ask(_pid) -> ask(_pid); tidy_up() }
  :: d_step { phase[_pid] == WAITS && can_start_at_once(_pid) ->
       n = claim_valid(_pid); win(_pid, n, grant_fence[_pid]); tidy_up() }
  :: d_step { phase[_pid] == WAITS && !stays_alive(_pid) -> leave(_pid); tidy_up() }
#ifndef AMNESIA
  :: d_step { phase[_pid] == HOLDS && valid[_pid] > 0 && wire[_pid] == NOTHING && !calm ->
       send(_pid, RENEW); tidy_up() }
#endif
  :: d_step { phase[_pid] == HOLDS -> leave(_pid); tidy_up() }
  :: d_step { phase[_pid] == HOLDS && can_be_late(_pid) -> make_late(_pid); leave(_pid); tidy_up() }
  :: d_step { phase[_pid] != LEAVES && wire[_pid] != NOTHING && !calm -> time_out(_pid); tidy_up() }
  :: d_step { phase[_pid] != LEAVES && can_be_late(_pid) ->
       make_late(_pid); time_out(_pid); tidy_up() }
  :: d_step { phase[_pid] == LEAVES && can_be_late(_pid) ->
       make_late(_pid); leave(_pid); tidy_up() }
  // It dies, or gives up, and comes back knowing nothing.
  :: d_step { phase[_pid] != IDLE && !calm -> finish(_pid); tidy_up() }
  :: d_step { can_be_late(_pid) -> make_late(_pid); finish(_pid); tidy_up() }
#ifdef AMNESIA
  :: d_step { valid[_pid] > 0 -> write(lease_fence[_pid]); tidy_up() }
  :: d_step { valid[_pid] > 0 && stalled == 0 -> stalled = lease_fence[_pid]; tidy_up() }
#endif
  od
}

inline answer(c) {
  n = aged[c];
  clear_wire(c);
  wire[c] = outcome;
  if
  :: outcome == GRANTED ->
#ifdef FRESH_TTL_ON_REPEAT
     aged[c] = minus(TTL, DRIFT + n);
#else
#ifdef VALID_FROM_RECEIPT
     aged[c] = minus(left, DRIFT);
#else
     aged[c] = minus(left, DRIFT + n);
#endif
#endif
     wire_fence[c] = newest;
     drop_useless_grant(c)
  :: outcome == QUEUED ->
     aged[c] = n + lag(c);
     if :: aged[c] - lag_at_most(c) >= CLAIM - DRIFT -> aged[c] = NO_PAIR :: else fi
  :: outcome == REFUSED -> finish(c)
  :: else
  fi
}

inline question_of(c) {
  step(c, wire[c]);
  if
  :: wire[c] == RELEASE -> finish(c)
  :: else -> answer(c)
  fi;
  tidy_up()
}

active proctype Network() {
  do
  :: d_step { store_answers && is_question(wire[0]) -> question_of(0) }
  :: d_step { store_answers && is_question(wire[1]) -> question_of(1) }
  :: d_step { store_answers && is_question(wire[2]) -> question_of(2) }
  :: d_step { store_answers && late != NOTHING ->
       step(late_from, late);
       late = NOTHING; late_from = NOBODY; tidy_up() }
#ifdef AMNESIA
  :: d_step { stalled != 0 -> write(stalled); stalled = 0; tidy_up() }
#endif
  od
}

inline pass_locally(c, ticks) {
  valid[c] = minus(valid[c], ticks);
  if
  :: wire[c] == ACQUIRE || wire[c] == RENEW -> aged[c] = at_most(USELESS_AGE, aged[c] + ticks)
#ifndef VALID_FROM_RECEIPT
  :: wire[c] == GRANTED ->
     aged[c] = minus(aged[c], ticks);
     drop_useless_grant(c)
#endif
  :: else
  fi;
  if
  :: phase[c] == HOLDS && valid[c] == 0 && wire[c] == NOTHING -> lease_fence[c] = 0
  :: else
  fi
}

inline tick() {
#ifdef GRANT_TO_DEAD
  if :: !claimed -> left = minus(left, 1) :: else fi;
#else
  left = minus(left, 1);
#endif
  for (i : 0 .. CLIENTS - 1) {
#ifndef VALID_FROM_RECEIPT
    if
    :: grant_left[i] > 0 ->
       grant_left[i]--;
       if :: grant_left[i] == 0 -> grant_fence[i] = 0 :: else fi
    :: else
    fi;
#endif
    asked[i] = 0
  }
#ifdef AMNESIA
  down = 0;
  granted_now = 0;
#ifndef COUNTER_LOST
  counter = at_least(LONG_AGO, counter - GRANTS_PER_TICK);
  largest = at_least(LONG_AGO, largest - GRANTS_PER_TICK);
#endif
#endif
  pass_locally(1, 1);
  pass_locally(2, 1)
}

// Without faults everything arrives within its tick, and whoever waits asks once in it.
#define has_settled(c) (wire[c] == NOTHING && !(phase[c] == WAITS && !asked[c]) && \
                        !(phase[c] == WAITS && can_start_at_once(c)))
#define may_pass (!calm || (late == NOTHING && has_settled(0) && has_settled(1) && has_settled(2)))

active proctype Time() {
  do
  :: d_step { may_pass ->
       tick();
       pass_locally(0, 1);
#ifdef SERVICE
       if
       :: calm && (phase[0] == ASKS || phase[0] == WAITS) -> waited++
       :: else
       fi;
       waiter_not_served = waited > SERVED_WITHIN;
       assert(!waiter_not_served);
#endif
       check_belief(); tidy_up() }
#ifdef SKEW
  :: d_step { !behind -> behind = 1; tick(); check_belief(); tidy_up() }
  :: d_step { behind -> behind = 0; tick(); pass_locally(0, 2); check_belief(); tidy_up() }
#endif
#ifdef VALIDITY_CACHED
  // Client 0 is stopped, and goes by what it knew.
  :: d_step { valid[0] > 0 -> tick(); check_belief(); tidy_up() }
#endif
#ifdef AMNESIA
  :: d_step { !down ->
       free_lock();
       for (i : 0 .. PLACES - 1) { queue[i] = FREE }
#ifdef COUNTER_LOST
       counter = (newest > 0 -> -1 : 0);
#else
       counter = LONG_AGO;
#endif
#ifdef CLOCK_SET_BACK
       largest = largest + 2 * GRANTS_PER_TICK;
#endif
       down = 1;
       tidy_up() }
#endif
#ifdef SERVICE
  :: d_step { !calm -> calm = 1; tidy_up() }
#endif
  od
}
