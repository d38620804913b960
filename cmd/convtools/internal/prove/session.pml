/*
 * The scheduling of conversations in a session, for SPIN: which task runs when a
 * model calls conv.create or conv.send (both are a call here), when calls nest, when
 * a response has two of them, and when somebody interrupts.
 *
 * Calls wait on a stack. With -DFIFO they wait in one queue, as the document that
 * asks for these tools says it ("pending_tasks is consumed FIFO"): the plans of a
 * call are added at the end. That a caller then continues without its answer is the
 * counter-example for which the stack is there.
 *
 * I1 to I15 are the invariants of runtime/session/invariant_test.go.
 */
#define N 3          /* conversations; 0 is the root */
#ifndef CALLS
#define CALLS 2      /* responses with calls in a logical turn */
#endif
#define DEPTH N      /* a caller is on the stack once */

mtype = { begin, resume, final, called, stopped };

byte running;        /* tasks that run */
bool open[N];        /* it waits for the outputs of its calls */
byte missing[N];     /* how many of them have no answer yet */
byte used[N];        /* responses with calls of its logical turn */
bool cancelled;      /* somebody interrupts the chain */

chan go[N] = [0] of { mtype };
chan ended = [0] of { byte, mtype, byte, byte, byte }; /* who, how, and of a call: how many targets, and which */
chan outside = [1] of { byte };                        /* inputs from outside */

/* A conversation: it runs a task when it is told to, and says how that ended. */
proctype conversation(byte me)
{
	byte one, two;
end:	do
	:: go[me]?begin ->
		used[me] = 0;
		goto sample
	:: go[me]?resume ->
sample:		atomic {
			running++;
			assert(running == 1);           /* I1 */
			assert(!open[me]);              /* I3: no sample with an open call */
		}
		if
		:: cancelled -> atomic { running--; ended!me, stopped, 0, 0, 0 }
		:: atomic { running--; ended!me, final, 0, 0, 0 }
		:: used[me] < CALLS ->
			/* Itself and those that wait cannot be called. */
			atomic {
				if
				:: one = (me + 1) % N
				:: one = (me + 2) % N
				fi;
				if
				:: two = (me + 1) % N
				:: two = (me + 2) % N
				:: two = me
				fi;
				running--;
				if
				:: open[one] -> ended!me, final, 0, 0, 0
				:: !open[one] && (two == me || open[two]) -> used[me]++; ended!me, called, 1, one, 0
				:: !open[one] && !(two == me || open[two]) -> used[me]++; ended!me, called, 2, one, two
				fi;
				one = 0;
				two = 0
			}
		fi
	od
}

/* People: they send input at any time, and interrupt at any time. */
active proctype people()
{
end:	do
	:: outside!0
	:: outside!1
	:: !cancelled -> cancelled = true
	od
}

#ifndef FIFO

typedef Batch { byte caller; byte count; byte next; byte target[2] };
Batch stack[DEPTH];
byte top;

/* pop takes the top off, and leaves nothing there that would make two states of one. */
inline pop(popped)
{
	top--;
	popped = stack[top].caller;
	stack[top].caller = 0;
	stack[top].count = 0;
	stack[top].next = 0;
	stack[top].target[0] = 0;
	stack[top].target[1] = 0;
	missing[popped] = 0;
	open[popped] = false
}

active proctype session()
{
	byte who, count, one, two;
	mtype how;
	atomic { run conversation(0); run conversation(1); run conversation(2) };
idle:
end:	outside?who;
	cancelled = false;
	go[who]!begin;
wait:	ended?who, how, count, one, two;
	if
	:: how == called ->
		d_step {
			assert(top < DEPTH);
			open[who] = true;
			missing[who] = count;
			stack[top].caller = who;
			stack[top].count = count;
			stack[top].next = 0;
			stack[top].target[0] = one;
			stack[top].target[1] = two;
			top++
		}
	:: how == final && top > 0 ->
		d_step {
			assert(stack[top - 1].target[stack[top - 1].next] == who);   /* I4 */
			stack[top - 1].next++;
			missing[stack[top - 1].caller]--;
			used[who] = 0
		}
	:: how == final && top == 0 -> used[who] = 0
	:: how == stopped ->
		/* Every open call of the chain is closed, and no caller continues. */
		do
		:: top > 0 -> d_step { used[who] = 0; pop(who) }
		:: else -> used[who] = 0; break
		od
	fi;
	atomic { count = 0; one = 0; two = 0; how = 0 };
	if
	:: top == 0 ->
		assert(!open[0] && !open[1] && !open[2]);                        /* I7 */
		who = 0;
		goto idle
	:: top > 0 && stack[top - 1].next < stack[top - 1].count ->
		who = stack[top - 1].target[stack[top - 1].next];
		assert(!open[who]);                                              /* I5 */
		go[who]!begin
	:: top > 0 && stack[top - 1].next == stack[top - 1].count ->
		d_step { assert(missing[stack[top - 1].caller] == 0); pop(who) };
		go[who]!resume
	fi;
	goto wait
}

#else

chan pending = [9] of { mtype, byte, byte }; /* what, whose task, and for whom */

active proctype session()
{
	byte who, from, count, one, two;
	mtype how, what;
	byte caller[N];   /* for whom it works, and one more; 0 is nobody */
	atomic { run conversation(0); run conversation(1); run conversation(2) };
	do
	:: pending?what, who, from ->
		if
		:: what == begin -> caller[who] = from; go[who]!begin
		:: what == resume ->
			assert(missing[who] == 0);      /* a caller continues with its answers alone */
			open[who] = false;
			go[who]!resume
		fi;
		ended?who, how, count, one, two;
		if
		:: how == called ->
			open[who] = true;
			missing[who] = count;
			pending!begin, one, who + 1;
			if
			:: count == 2 -> pending!begin, two, who + 1
			:: else
			fi;
			pending!resume, who, 0
		:: how != called && caller[who] > 0 -> missing[caller[who] - 1]--
		:: how != called && caller[who] == 0
		fi
	:: empty(pending) ->
end:		outside?who;
		cancelled = false;
		pending!begin, who, 0
	od
}

#endif

#ifndef FIFO
ltl serial { [] (running <= 1) }
ltl answered0 { [] (open[0] -> <> !open[0]) }
ltl answered1 { [] (open[1] -> <> !open[1]) }
ltl answered2 { [] (open[2] -> <> !open[2]) }
#endif
