package logs

// mask is a set of addresses.
type mask uint8

// log is a container's log with its newest snapshot. Rows have the numbers gone + 1 to head. fold is the true fold of the whole history at each
// number; it ignores collection, and no server reads it except through rows and pages.
type log struct {
	head, gone uint8
	root       uint8 // number of the newest snapshot
	fold       [maxRows]mask
}

// phase is the stage of a client's request.
type phase uint8

const (
	idle phase = iota
	claiming
	holding
	releasing
	refused
)

// client is a client with the holds of all its requests. A request number is also the idempotency key and the identity of the hold.
type client struct {
	phase  phase
	ask    uint8
	at     uint8 // 1 + the server from which it waits for an answer, or 0
	unsure bool  // an earlier attempt at this request had no answer
	full   bool  // only for RefusesUnread and RefusesPiecemeal: at some moment since the request, all its containers were full
	holds  [maxAsks]hold
}

// life is the stage of a hold.
type life uint8

const (
	never life = iota
	live       // the hold has its row and its name, and the key has its row
	ended      // the hold also has an end row
	swept      // only the row of the key is left
)

// hold is the rows of a claim that took effect.
type hold struct {
	life    life
	log     uint8
	addr    uint8
	void    bool // only for the promises: the client got a definite refusal of this request
	unnamed bool // only for SweepsByName: the row of the name is deleted
	listed  bool // only for SweepsByName: the sweeper has read that the hold is ended
}

// page is the state of the page version that a server's root names.
type page uint8

const (
	newest    page = iota // the newest root names the same version
	replaced              // the newest root names another version; this one still exists
	collected             // the collector has deleted the version
)

// cache is a server's fold of a log. Addresses outside known belong to pages that the server has not read yet.
type cache struct {
	warm        bool
	seq         uint8
	known, held mask
	root        uint8 // number of the snapshot that the server read or wrote last; 0 for none
	pages       [maxPages]page
}

// stage is the stage of a request in a server.
type stage uint8

const (
	ready     stage = iota // the next group may contain the request
	check                  // a claim whose insert met an existing key or name
	checkName              // only for ChecksApart: the key is absent, and the server is about to read the name
	read                   // a release whose hold the server is about to read
	flying                 // the answer to the commit of its group is lost
)

type kind uint8

const (
	none kind = iota
	claim
	release
)

// item is a client's request in a server. The server serves it even if the client no longer waits.
type item struct {
	kind     kind
	stage    stage
	ask      uint8
	replaces uint8 // for the slow path, the ended hold that the transaction deletes, as a reference; 0 for none
	seen     where // only for RefusesPiecemeal: the containers that were full
}

type server struct {
	caches [maxLogs]cache
	items  [maxClients]item
}

// op is one request's part in a group.
type op struct {
	kind      kind
	ask       uint8
	log, addr uint8
	replaces  uint8
}

// flight is a group whose commit has no answer yet.
type flight struct {
	used     bool
	server   uint8 // 1 + the server that waits for the outcome, or 0 if that server no longer asks
	airborne bool  // the commit may still take effect
	landed   where // the containers in which the group has taken effect
	rows     [maxLogs]uint8
	ops      [maxClients]op
}

// state is a complete state of the model.
type state struct {
	logs    [maxLogs]log
	clients [maxClients]client
	servers [maxServers]server
	flights [maxFlights]flight
	lost    uint8
}

// reference names a hold in one number.
func reference(client int, ask uint8) uint8 { return 1 + uint8(client)*maxAsks + ask - 1 } //nolint:gosec // G115: a few clients

func (s *state) hold(reference uint8) *hold {
	return &s.clients[(reference-1)/maxAsks].holds[(reference-1)%maxAsks]
}

// holdOf returns the hold of a request.
func (s *state) holdOf(client int, ask uint8) *hold { return &s.clients[client].holds[ask-1] }

// append adds a row to a log.
func (l *log) append(fold mask) {
	l.head++
	l.fold[l.head] = fold
}

// visible reports whether the log contains a row.
func (l *log) visible(seq uint8) bool { return l.gone < seq && seq <= l.head }
