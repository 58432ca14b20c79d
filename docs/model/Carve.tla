------------------------------- MODULE Carve -------------------------------
(***************************************************************************)
(* A pool of addresses that several regions serve: claims and releases,    *)
(* blocks lent to a region and recalled, answers that are lost, servers    *)
(* that crash, and a region's rows restored to an older state.             *)
(*                                                                         *)
(* One action is one transaction of the database, or one thing that a      *)
(* client or a server does between two of them. Transactions are           *)
(* serializable, so each is one step; what may happen between the steps of *)
(* a request is everything else. README.md beside this file says what is   *)
(* not modelled; the documentation of lab/model says what each action *)
(* stands for.                                                             *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Size,       \* addresses of the pool, a power of two
    Regions,    \* where the pool is served
    Home,       \* the region that lends
    Clients,
    Asks,       \* [Clients -> Regions]: the region that a client asks
    Wishes,     \* sizes of blocks that claims ask for
    MaxAsks,    \* claims that each client makes, one after another
    MaxLost,    \* requests whose answer is lost
    Restored    \* the regions of which one is backed up and restored, once

ASSUME Home \in Regions /\ Asks \in [Clients -> Regions]

\* For Carve.cfg: client 1 asks the home, all others one other region.
FirstAtHome == [c \in Clients |-> IF c = 1 THEN Home ELSE CHOOSE r \in Regions : r # Home]

(***************************************************************************)
(* Blocks. A block is <<first address, size>>, aligned to its size.        *)
(***************************************************************************)
Sizes  == {n \in {1, 2, 4, 8, 16} : n <= Size}
Blocks == {b \in (0 .. Size - 1) \X Sizes : b[1] % b[2] = 0}
Pool   == <<0, Size>>
None   == <<0, 0>>

Addrs(b)   == b[1] .. (b[1] + b[2] - 1)
Covered(S) == UNION {Addrs(b) : b \in S}
In(b, c)   == c[1] <= b[1] /\ b[1] + b[2] <= c[1] + c[2]
Within(b, S) == \E c \in S : In(b, c)

\* The rows that tile a set of addresses and of which no two are buddies.
Rows(A) == {b \in Blocks : /\ Addrs(b) \subseteq A
                           /\ \A c \in Blocks : In(b, c) /\ c # b => ~ (Addrs(c) \subseteq A)}

\* Free rows after a block was carved from them, and after one was given back.
Carved(S, b) == Rows(Covered(S) \ Addrs(b))
Merged(S, b) == Rows(Covered(S) \cup Addrs(b))

\* Records of loans after block b was recalled: those inside b go, one that
\* holds b is cut. Records are not merged: there is one for each loan.
Unlent(S, b) == {l \in S : Addrs(l) \cap Addrs(b) = {}}
                \cup UNION {Rows(Addrs(l) \ Addrs(b)) : l \in {l \in S : In(b, l)}}

(***************************************************************************)
(* The state.                                                              *)
(***************************************************************************)
VARIABLES
    free,    \* [Regions -> SUBSET Blocks]: the free rows of the pool in a region
    loans,   \* [Regions -> SUBSET Blocks]: what the home has lent, by borrower
    claim,   \* [Clients -> [ask, at]]: the client's claim and its block; it has
             \* one name, so one claim at a time
    keys,    \* [Clients -> SUBSET Nat]: the requests whose answer is stored
    stale,   \* SUBSET Regions: those whose rows have another epoch than the
             \* record. An epoch is a new value each time, so that all that can
             \* be seen of two is whether they are equal.
    client,  \* [Clients -> ...]: what a client does, and what it was told
    late,    \* [Clients -> ...]: a request that nobody waits for any more and
             \* that may still take effect, in a server or in a COMMIT
    lost,    \* how many requests lost their answer
    backup,  \* one region's rows as they once were
    done     \* [Clients -> SUBSET Nat]: requests that took effect (history)

vars == <<free, loans, claim, keys, stale, client, late, lost, backup, done>>

NoClaim == [ask |-> 0, at |-> None]
NoLate  == [op |-> "none", ask |-> 0, size |-> 0]
NoRows  == [c \in Clients |-> NoClaim]
NoBackup(stage) == [stage |-> stage, region |-> Home, old |-> FALSE, free |-> {},
                    claim |-> NoRows, keys |-> [c \in Clients |-> {}]]

Init ==
    /\ free = [r \in Regions |-> IF r = Home THEN {Pool} ELSE {}]
    /\ loans = [r \in Regions |-> {}]
    /\ claim = NoRows
    /\ keys = [c \in Clients |-> {}]
    /\ stale = {}
    /\ client = [c \in Clients |-> [phase |-> "idle", ask |-> 0, size |-> 0, what |-> 0, told |-> None]]
    /\ late = [c \in Clients |-> NoLate]
    /\ lost = 0
    /\ backup = NoBackup("none")
    /\ done = [c \in Clients |-> {}]

(***************************************************************************)
(* What the steps have in common.                                          *)
(***************************************************************************)
Served(r)  == r \notin stale                      \* the transaction compares the epochs
Here(c)    == Asks[c]
RoomIn(A, n) == \E b \in Blocks : b[2] = n /\ Addrs(b) \subseteq A
Fitting(r, n) == {b \in Blocks : b[2] = n /\ Within(b, free[r])}

\* A block is free, as a whole in one region or in parts in several. The rows
\* of a fenced region say nothing.
AnyRoom(n) == RoomIn(UNION {Covered(free[r]) : r \in Regions \ stale}, n)

Phase(c, p)    == client[c].phase = p
GoTo(c, p)     == client' = [client EXCEPT ![c].phase = p]
Answered(c, p) == [client[c] EXCEPT !.phase = p, !.size = 0, !.what = 0, !.told = None]
Told(c, b)     == [Answered(c, "held") EXCEPT !.told = b]
Known(c)       == client[c].ask \in keys[c]       \* its answer is stored

\* Key and name are unique: the insert fails if either is there.
MayWrite(c, a) == a \notin keys[c] /\ claim[c] = NoClaim
Bind(c, a, b) ==
    /\ free' = [free EXCEPT ![Here(c)] = Carved(@, b)]
    /\ claim' = [claim EXCEPT ![c] = [ask |-> a, at |-> b]]
    /\ keys' = [keys EXCEPT ![c] = @ \cup {a}]
    /\ done' = [done EXCEPT ![c] = @ \cup {a}]

\* A release deletes the claim with the identity that it was asked for, or none.
Unbind(c, a) ==
    IF claim[c].ask = a /\ a # 0
    THEN /\ free' = [free EXCEPT ![Here(c)] = Merged(@, claim[c].at)]
         /\ claim' = [claim EXCEPT ![c] = NoClaim]
    ELSE UNCHANGED <<free, claim>>

blocks == <<free, loans, claim, keys, stale, done, backup>>

(***************************************************************************)
(* A claim.                                                                *)
(***************************************************************************)
Ask(c, n) ==
    /\ client[c].phase \in {"idle", "refused"} /\ client[c].ask < MaxAsks
    /\ client' = [client EXCEPT ![c].phase = "look", ![c].ask = @ + 1, ![c].size = n]
    /\ UNCHANGED <<blocks, late, lost>>

\* A stored answer is told again; its body is the row that was written with it.
Look(c) ==
    /\ Phase(c, "look") /\ Served(Here(c))
    /\ client' = [client EXCEPT ![c] = IF Known(c) THEN Told(c, claim[c].at)
                                       ELSE [@ EXCEPT !.phase = "carve"]]
    /\ UNCHANGED <<blocks, late, lost>>

\* The transaction of a claim: any block of the size, whatever the strategy.
Carve(c) ==
    /\ Phase(c, "carve") /\ Served(Here(c))
    /\ UNCHANGED <<loans, stale, backup, late, lost>>
    /\ LET fits == Fitting(Here(c), client[c].size)
           same == UNCHANGED <<free, claim, keys, done>>
       IN  IF fits = {} THEN GoTo(c, "borrow") /\ same
           ELSE IF MayWrite(c, client[c].ask)
           THEN \E b \in fits : /\ Bind(c, client[c].ask, b)
                                /\ client' = [client EXCEPT ![c] = Told(c, b)]
           ELSE IF Known(c) THEN GoTo(c, "look") /\ same
           ELSE client' = [client EXCEPT ![c] = Answered(c, "refused")] /\ same

\* The second look, before a refusal: what took the last room may have been an
\* earlier try of the same request.
Doubt(c) ==
    /\ Phase(c, "doubt") /\ Served(Here(c))
    /\ client' = [client EXCEPT ![c] = IF Known(c) THEN Told(c, claim[c].at)
                                       ELSE Answered(c, "refused")]
    /\ UNCHANGED <<blocks, late, lost>>

\* After no answer a client repeats with the same key, or looks by name.
Repeat(c) == Phase(c, "unsure") /\ GoTo(c, "look") /\ UNCHANGED <<blocks, late, lost>>
LookUp(c) ==
    /\ Phase(c, "unsure") /\ Served(Here(c)) /\ claim[c].ask = client[c].ask
    /\ client' = [client EXCEPT ![c] = Told(c, claim[c].at)]
    /\ UNCHANGED <<blocks, late, lost>>

(***************************************************************************)
(* A release: of what is held, or of what is found by its name.            *)
(***************************************************************************)
Return(c) ==
    /\ \/ Phase(c, "held")
       \/ client[c].phase \in {"idle", "refused"} /\ claim[c] # NoClaim /\ Served(Here(c))
    /\ client' = [client EXCEPT ![c] = [Answered(c, "release") EXCEPT
                     !.what = IF Phase(c, "held") THEN client[c].ask ELSE claim[c].ask]]
    /\ UNCHANGED <<blocks, late, lost>>
Release(c) ==
    /\ Phase(c, "release") /\ Served(Here(c))
    /\ Unbind(c, client[c].what)
    /\ client' = [client EXCEPT ![c] = Answered(c, "idle")]
    /\ UNCHANGED <<loans, keys, stale, done, backup, late, lost>>
RepeatRelease(c) == Phase(c, "adrift") /\ GoTo(c, "release") /\ UNCHANGED <<blocks, late, lost>>

(***************************************************************************)
(* Faults. A crash leaves nothing of the request. A request whose answer   *)
(* is lost may have taken effect, or take effect later, or never: it is    *)
(* late, and it lands or vanishes.                                         *)
(***************************************************************************)
Crash(c) ==
    /\ lost < MaxLost /\ lost' = lost + 1
    /\ \/ client[c].phase \in {"look", "carve", "borrow", "doubt"} /\ GoTo(c, "unsure")
       \/ Phase(c, "release") /\ GoTo(c, "adrift")
    /\ UNCHANGED <<blocks, late>>
Lose(c) ==
    /\ lost < MaxLost /\ lost' = lost + 1 /\ late[c] = NoLate
    /\ \/ /\ client[c].phase \in {"look", "carve", "borrow", "doubt"} /\ GoTo(c, "unsure")
          /\ late' = [late EXCEPT ![c] = [op |-> "claim", ask |-> client[c].ask, size |-> client[c].size]]
       \/ /\ Phase(c, "release") /\ GoTo(c, "adrift")
          /\ late' = [late EXCEPT ![c] = [op |-> "release", ask |-> client[c].what, size |-> 0]]
    /\ UNCHANGED blocks
Vanish(c) ==
    /\ late[c] # NoLate /\ late' = [late EXCEPT ![c] = NoLate]
    /\ UNCHANGED <<blocks, client, lost>>
Land(c) ==
    /\ late[c] # NoLate /\ Served(Here(c)) /\ late' = [late EXCEPT ![c] = NoLate]
    /\ \/ /\ late[c].op = "claim" /\ MayWrite(c, late[c].ask)
          /\ \E b \in Fitting(Here(c), late[c].size) : Bind(c, late[c].ask, b)
       \/ late[c].op = "release" /\ Unbind(c, late[c].ask) /\ UNCHANGED <<keys, done>>
    /\ UNCHANGED <<loans, stale, backup, client, lost>>

(***************************************************************************)
(* Lending and recalling, by a keeper or for a claim that found no room.   *)
(* One transaction takes a free block, whole or a part of one, out of one  *)
(* region's rows, gives it to the other, keeps the record, and gives both  *)
(* regions, the home and the other, a new epoch.                           *)
(***************************************************************************)
Move(b, q, r) ==      \* from q to r
    /\ Served(q) /\ Served(r) /\ Within(b, free[q])
    /\ free' = [free EXCEPT ![q] = Carved(@, b), ![r] = Merged(@, b)]
    /\ loans' = IF r = Home THEN [loans EXCEPT ![q] = Unlent(@, b)]
                ELSE [loans EXCEPT ![r] = @ \cup {b}]
    /\ backup' = [backup EXCEPT !.old = \/ @
                                        \/ backup.stage = "taken" /\ backup.region \in {q, r}]
    /\ UNCHANGED <<claim, keys, stale, done, client, late, lost>>

Lend(r)   == r # Home /\ \E b \in Blocks : Move(b, Home, r)
Recall(r) == r # Home /\ \E b \in Blocks : Move(b, r, Home)

(***************************************************************************)
(* A claim that its region has no room for looks in all regions, in one    *)
(* transaction. With room here it is tried again; with room elsewhere, as  *)
(* a whole or in parts, blocks are lent and recalled until it is here (by  *)
(* the moves above: one for a claim is like any other); with none anywhere *)
(* the pool is exhausted. A region that cannot be asked leaves it open.    *)
(***************************************************************************)
Found(c) ==
    /\ Phase(c, "borrow") /\ Served(Here(c)) /\ Fitting(Here(c), client[c].size) # {}
    /\ GoTo(c, "carve") /\ UNCHANGED <<blocks, late, lost>>
FindNone(c) ==
    /\ Phase(c, "borrow") /\ stale = {} /\ ~ AnyRoom(client[c].size)
    /\ GoTo(c, "doubt") /\ UNCHANGED <<blocks, late, lost>>

(***************************************************************************)
(* A partial restore: one region's rows, with the epoch beside them, as    *)
(* they were; the record of what was lent is not restored with them. What  *)
(* was claimed in the region since is lost, as with any restore, and its   *)
(* holder is told so.                                                      *)
(***************************************************************************)
Backup(r) ==
    /\ backup.stage = "none" /\ r \in Restored
    /\ backup' = [stage |-> "taken", region |-> r, old |-> FALSE, free |-> free[r],
                  claim |-> [c \in Clients |-> IF Here(c) = r THEN claim[c] ELSE NoClaim],
                  keys |-> [c \in Clients |-> IF Here(c) = r THEN keys[c] ELSE {}]]
    /\ UNCHANGED <<free, loans, claim, keys, stale, client, late, lost, done>>
Restore ==
    LET r == backup.region
        back(old, new) == [c \in Clients |-> IF Here(c) = r THEN new[c] ELSE old[c]]
    IN  /\ backup.stage = "taken"
        /\ free' = [free EXCEPT ![r] = backup.free]
        /\ claim' = back(claim, backup.claim)
        /\ keys' = back(keys, backup.keys)
        /\ done' = back(done, backup.keys)
        /\ stale' = (stale \ {r}) \cup (IF backup.old THEN {r} ELSE {})
        /\ client' = [c \in Clients |->
              IF Here(c) = r /\ Phase(c, "held") /\ claim'[c] # [ask |-> client[c].ask, at |-> client[c].told]
              THEN Answered(c, "idle") ELSE client[c]]
        /\ backup' = NoBackup("restored")
        /\ UNCHANGED <<loans, late, lost>>

\* The addresses that are a region's by the record.
Truth(r) == IF r = Home THEN (0 .. Size - 1) \ UNION {Covered(loans[q]) : q \in Regions}
            ELSE Covered(loans[r])

\* ipamctl regions reconcile: claims inside stay, others go, the rest is free.
Reconcile(r) ==
    LET outside == {c \in Clients : Here(c) = r /\ ~ (Addrs(claim[c].at) \subseteq Truth(r))}
        stay    == {c \in Clients : Here(c) = r /\ claim[c] # NoClaim} \ outside
    IN  /\ r \in stale /\ stale' = stale \ {r}
        /\ claim' = [c \in Clients |-> IF c \in outside THEN NoClaim ELSE claim[c]]
        /\ free' = [free EXCEPT ![r] = Rows(Truth(r) \ Covered({claim[c].at : c \in stay}))]
        /\ UNCHANGED <<loans, keys, done, client, late, lost, backup>>

Next ==
    \/ \E c \in Clients :
          \/ \E n \in Wishes : Ask(c, n)
          \/ Look(c) \/ Carve(c) \/ Found(c) \/ FindNone(c) \/ Doubt(c) \/ Repeat(c) \/ LookUp(c)
          \/ Return(c) \/ Release(c) \/ RepeatRelease(c)
          \/ Crash(c) \/ Lose(c) \/ Vanish(c) \/ Land(c)
    \/ \E r \in Regions : Lend(r) \/ Recall(r) \/ Backup(r) \/ Reconcile(r)
    \/ Restore

Spec == Init /\ [][Next]_vars

(***************************************************************************)
(* The promises (docs/evidence.md).                                        *)
(***************************************************************************)
HeldIn(r) == {claim[c].at : c \in {c \in Clients : Here(c) = r /\ claim[c] # NoClaim}}
Leaves(r) == free[r] \cup HeldIn(r)
RECURSIVE Sum(_)
Sum(S) == IF S = {} THEN 0 ELSE LET b == CHOOSE b \in S : TRUE IN b[2] + Sum(S \ {b})
Tile(S, A) == Covered(S) = A /\ Sum(S) = Cardinality(A)  \* each address once

\* The rows of a region tile what it was lent, and those at home the rest;
\* no address is lent twice.
RegionTiles ==
    /\ \A r \in Regions \ stale : free[r] \cap HeldIn(r) = {} /\ Tile(Leaves(r), Truth(r))
    /\ Tile(UNION {loans[r] : r \in Regions}, UNION {Covered(loans[r]) : r \in Regions})
    /\ \A q, r \in Regions : q # r => loans[q] \cap loans[r] = {}

\* Every address is covered by exactly one leaf over all regions, where all
\* that is a fenced region's by the record counts as one leaf.
Tiling == \A a \in 0 .. Size - 1 :
    Cardinality({<<r, b>> \in (Regions \ stale) \X Blocks : b \in free[r] /\ a \in Addrs(b)})
    + Cardinality({c \in Clients : Here(c) \notin stale /\ a \in Addrs(claim[c].at)})
    + Cardinality({r \in stale : a \in Truth(r)}) = 1

Maximal == \A r \in Regions : Rows(Covered(free[r])) = free[r]

\* No address was given to two holders, by what they were told or by the rows.
TwoHolders == \A c, d \in Clients : c # d =>
    /\ Phase(c, "held") /\ Phase(d, "held")
          => Addrs(client[c].told) \cap Addrs(client[d].told) = {}
    /\ {Here(c), Here(d)} \cap stale = {} => Addrs(claim[c].at) \cap Addrs(claim[d].at) = {}

\* A claim that was acknowledged exists, with its block, until it is released.
Acknowledged == \A c \in Clients :
    Phase(c, "held") => claim[c] = [ask |-> client[c].ask, at |-> client[c].told]

\* One effect per key, and no row without its key.
Keyed == \A c \in Clients : done[c] = keys[c] /\ (claim[c] # NoClaim => claim[c].ask \in keys[c])

Promises == RegionTiles /\ Tiling /\ Maximal /\ TwoHolders /\ Acknowledged /\ Keyed

(***************************************************************************)
(* Promises about steps.                                                   *)
(***************************************************************************)
Becomes(c, p) == ~ Phase(c, p) /\ client'[c].phase = p

\* "Exhausted" is found only when no region has room, and all could be asked.
ExhaustedTrue == [][\A c \in Clients :
                      Becomes(c, "doubt") => stale = {} /\ ~ AnyRoom(client[c].size)]_vars

\* A refusal left nothing. (An earlier try of the same request that is still
\* on its way may take effect later; it is found by its key and its name.)
RefusedLeft == [][\A c \in Clients : Becomes(c, "refused") =>
                    client[c].ask \notin keys[c] /\ claim[c].ask # client[c].ask]_vars

\* No request takes effect twice, unless a restore undid it in between.
OneEffect == [][\A c \in Clients :
                  claim'[c] # claim[c] /\ claim'[c] # NoClaim /\ backup'.stage = backup.stage
                     => claim'[c].ask \notin done[c]]_vars

\* Rows of a region whose epochs differ change by restoring and reconciling alone.
Fenced == [][\A r \in stale \cap stale' :
                 free'[r] = free[r] /\ \A c \in Clients : Here(c) = r => claim'[c] = claim[c]]_vars

(***************************************************************************)
(* When all that is held was released, all that is stale reconciled and    *)
(* all that is lent recalled, the pool is one free block at home again.    *)
(* Recalling b takes Unlent and Merged; so what is left is an equation.    *)
(***************************************************************************)
RECURSIVE UnlentAll(_, _)
UnlentAll(S, P) == IF P = {} THEN S
                   ELSE LET b == CHOOSE b \in P : TRUE IN UnlentAll(Unlent(S, b), P \ {b})
UsableAgain ==
    LET kept(r)  == {claim[c].at : c \in {c \in Clients : Here(c) = r /\ Addrs(claim[c].at) \subseteq Truth(r)}} \ {None}
        freed(r) == IF r \in stale THEN Rows(Truth(r)) ELSE Rows(Covered(free[r] \cup kept(r)))
    IN  /\ \A r \in Regions \ {Home} : UnlentAll(loans[r], freed(r)) = {}
        /\ Rows(UNION {Covered(freed(r)) : r \in Regions}) = {Pool}
=============================================================================
