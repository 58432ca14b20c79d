package twins

// place is a text in the product's source that some twins replace. In the replacement, LACKS is true if the running server is one of these twins.
type place struct {
	twins   []string
	file    string
	was, is string
}

var places = []place{
	{
		// The server does not store idempotency keys with the effects of their requests.
		[]string{"no-key"}, "internal/crdb/write/write.go",
		"\tw.insertStoredResponses(ch.StoredResponses)", "\tif LACKS {\n\t\tch.StoredResponses = nil\n\t}\n\tw.insertStoredResponses(ch.StoredResponses)",
	},
	{[]string{"no-key"}, "internal/crdb/write/one_round_trip.go", "\tw.insertStoredResponses(ch.StoredResponses)", "\tif LACKS {\n\t\tch.StoredResponses = nil\n\t}\n\tw.insertStoredResponses(ch.StoredResponses)"},
	{
		// The server accepts that a statement did not change all the rows that it should change.
		[]string{"no-must-hit"}, "internal/crdb/write/write.go",
		"got != int64(want) {", "got != int64(want) && !LACKS {",
	},
	{
		[]string{"no-must-hit"}, "internal/crdb/write/one_round_trip.go",
		"\tw.guard(surely, append(args, want)...)\n", "\tif LACKS {\n\t\tw.guard(name, args...)\n\t\treturn\n\t}\n\tw.guard(surely, append(args, want)...)\n",
	},
	// The server trusts its cache and does not compare versions.
	{[]string{"no-marks"}, "internal/crdb/write/one_round_trip.go", "\tw.guard(\"mark_is\",", "\tif LACKS {\n\t\treturn\n\t}\n\tw.guard(\"mark_is\","},
	{
		[]string{"no-marks"}, "internal/crdb/write/fences.go",
		"\t\thitRows(w, \"fence_update\", rows.FenceMoves, moves[:n], regions[0])\n",
		"\t\tif w.checked && LACKS {\n\t\t\tfor _, m := range moves[:n] {\n\t\t\t\tw.guard(\"fence_put\", regions[0], m.ID, m.Mark, m.Stock)\n\t\t\t}\n\t\t} else {\n" +
			"\t\t\thitRows(w, \"fence_update\", rows.FenceMoves, moves[:n], regions[0])\n\t\t}\n",
	},
	{
		// The server treats a COMMIT without a response as failed.
		[]string{"no-read-back"}, "internal/crdb/runner.go",
		"state string, err error) error {\n", "state string, err error) error {\n\tif LACKS {\n\t\treturn outcome.GaveUp(ctx, outcome.Retry, err)\n\t}\n",
	},
	// Later attempts of a transaction reuse the rows that the first attempt read.
	{[]string{"stale-plan"}, "internal/crdb/runner.go", "\tnumber := 0\n", "\tnumber, first := 0, new(*storage.GroupFacts)\n"},
	{
		[]string{"stale-plan"}, "internal/crdb/runner.go",
		"\t\t\tt := newTx(s, cn, number, dry)\n", "\t\t\tt := newTx(s, cn, number, dry)\n\t\t\tt.first = first\n",
	},
	{[]string{"stale-plan"}, "internal/crdb/tx.go", "\tnumber int\n", "\tnumber int\n\tfirst  **storage.GroupFacts\n"},
	{
		[]string{"stale-plan"}, "internal/crdb/tx_group.go",
		"\tt.conn.lock(pool.Lock())\n", "\tt.conn.lock(pool.Lock())\n\tif LACKS {\n\t\tif *t.first != nil {\n\t\t\treturn **t.first, nil\n\t\t}\n" +
			"\t\tdefer func() {\n\t\t\tif err == nil {\n\t\t\t\t*t.first = &facts\n\t\t\t}\n\t\t}()\n\t}\n",
	},
	// Transactions do not take their locks.
	{[]string{"no-locks"}, "internal/crdb/conn.go", "\tif c.locks != nil {", "\tif c.locks != nil && !LACKS {"},
	// The server reports a pool as exhausted after the first read.
	{[]string{"no-second-look"}, "internal/alloc/claims/group.go", "w.Exact.IsValid() || m.request.DryRun {", "w.Exact.IsValid() || m.request.DryRun || LACKS {"},
	// The server does not compare the epochs of a region's stock.
	{[]string{"no-epoch"}, "internal/alloc/regions/fence.go", "\tif !facts.Fenced {", "\tif !facts.Fenced || LACKS {"},
	{[]string{"no-epoch"}, "internal/crdb/write/one_round_trip.go", "\tfor _, c := range r.Several {\n", "\tfor _, c := range r.Several {\n\t\tif LACKS {\n\t\t\tbreak\n\t\t}\n"},
	// A role applies to any project with the same name. Without this protection, lab/e2e/remade_test.go fails too.
	{[]string{"roles-by-name"}, "internal/tenancy/principal.go", "held.Project == project.ID {", "held.Project == project.ID || LACKS {"},
	// If a claim's pool is missing, a release fails without a second read.
	{[]string{"no-release-again"}, "internal/alloc/claims/release.go", "\tif ipam.IsCode(err, ipam.CodeNotFound) {\n\t\treturn &storage", "\tif ipam.IsCode(err, ipam.CodeNotFound) && !LACKS {\n\t\treturn &storage"},
	{
		// The end of a request cancels its COMMIT.
		[]string{"cancel-commits"}, "internal/crdb/conn.go",
		"\t\terr := commit(context.WithoutCancel(ctx))\n",
		"\t\tto := context.WithoutCancel(ctx)\n\t\tif LACKS {\n\t\t\tto = ctx\n\t\t}\n\t\terr := commit(to)\n",
	},
	{[]string{"cancel-commits"}, "internal/crdb/conn.go", "\tc.pendingCommit = done\n", "\tif LACKS {\n\t\treturn <-result\n\t}\n\tc.pendingCommit = done\n"},
	{[]string{"cancel-commits"}, "internal/crdb/dial/link.go", "refuse, socket := l.deciding,", "refuse, socket := l.deciding && !LACKS,"},
	// Each server uses its own clock instead of the database's clock.
	{[]string{"local-clock"}, "internal/crdb/tx.go", "t.conn.at.IsZero() {", "t.conn.at.IsZero() || LACKS {"},
	{
		[]string{"local-clock"}, "internal/crdb/clock.go",
		"\treturn c.At(c.local()).UTC()\n", "\tif LACKS {\n\t\treturn c.local().Round(0).UTC()\n\t}\n\treturn c.At(c.local()).UTC()\n",
	},
	{[]string{"local-clock"}, "internal/crdb/clock.go", "\treturn c.Clock.Earliest(c.local()).UTC()\n", "\tif LACKS {\n\t\treturn c.local().Round(0).UTC()\n\t}\n\treturn c.Clock.Earliest(c.local()).UTC()\n"},
	// The server reports the effect of an earlier request before that effect is durable. The twin cancel-commits needs this change too: it can then
	// read a cancelled COMMIT that no client knows of.
	{[]string{"no-barrier", "cancel-commits"}, "internal/crdb/durable.go", `s.engine.durable(); ask == "" {`, `s.engine.durable(); ask == "" || LACKS {`},
	{[]string{"no-barrier", "cancel-commits"}, "internal/crdb/durable.go", "\tif t.dry {\n", "\tif t.dry || LACKS {\n"},
}
