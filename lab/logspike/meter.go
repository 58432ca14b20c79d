package logspike

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// meter is the use of a quota, as this server knows it. A quota is a container with a log of its own, and each log row contains the total. So the newest
// row is the whole state, and a quota needs no snapshot. Only one worker uses a meter at a time.
type meter struct {
	id     ID
	seq    int64 // of the last log row; 0 if there is none
	used   int64 // claims in the last log row
	limit  int64 // 0 before the meter is loaded
	change int64 // claims that the current plan adds
}

// meterBody is the content of a quota's log row.
type meterBody struct {
	Used  int64 `json:"u"`
	Limit int64 `json:"l"`
}

// CreateQuota writes the first log row of a quota.
func CreateQuota(ctx context.Context, db *pgxpool.Pool, quota ID, limit int64) error {
	var r rows
	m := meter{id: quota, limit: limit}
	if err := m.addLog(&r); err != nil {
		return err
	}
	_, err := (&store{db: db}).insert(ctx, &r)
	return err
}

// addLog adds the next log row of the quota.
func (m *meter) addLog(r *rows) error {
	body, err := json.Marshal(meterBody{m.used + m.change, m.limit})
	r.add(row{pool: m.id, kind: kindLog, block: []byte{}, seq: m.seq + 1, body: string(body)})
	return err
}

// load reads the newest log row.
func (m *meter) load(ctx context.Context, s *store) (news bool, err error) {
	var body string
	var seq int64
	err = s.db.QueryRow(ctx, newestLog, m.id).Scan(&seq, &body)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, &Refusal{Code: NotFound, Name: m.id.String()}
	}
	var b meterBody
	if err == nil {
		err = json.Unmarshal([]byte(body), &b)
	}
	if err != nil {
		return false, err
	}
	news = seq != m.seq
	m.seq, m.used, m.limit, m.change = seq, b.Used, b.Limit, 0
	return news, nil
}

// meterOf returns the loaded meter of a quota.
func (e *Engine) meterOf(ctx context.Context, quota ID) (*meter, error) {
	e.mu.Lock()
	m := e.meters[quota]
	if m == nil {
		m = &meter{id: quota}
		e.meters[quota] = m
	}
	e.mu.Unlock()
	if m.limit > 0 {
		return m, nil
	}
	_, err := m.load(ctx, e.store)
	return m, err
}

// charge adds the claims of a call to its quota. It reports whether the quota allows them.
func (e *Engine) charge(ctx context.Context, b *planner, c *call, n int64) (bool, error) {
	if c.Quota == (ID{}) {
		return true, nil
	}
	m, err := e.meterOf(ctx, c.Quota)
	if err != nil {
		return false, err
	}
	if b.meters[m.id] == nil {
		b.meters[m.id], m.change = m, 0
	}
	if n > 0 && m.used+m.change+n > m.limit {
		return false, nil
	}
	m.change += n
	return true, nil
}

// addMeters adds the log rows of the quotas.
func (b *planner) addMeters() error {
	for _, m := range b.meters {
		if m.change == 0 {
			continue
		}
		if err := m.addLog(&b.rows); err != nil {
			return err
		}
	}
	return nil
}

// settleMeters handles the outcome of an INSERT for its quotas.
func (e *Engine) settleMeters(ctx context.Context, b *planner, end ending) error {
	for _, m := range b.meters {
		switch {
		case end == committed && m.change != 0:
			m.used += m.change
			m.seq++
		case end == unknown:
			m.limit = 0 // the next use loads it
		case end == keyTaken && e.noFence == "quota":
			m.seq++
		case end == keyTaken || end == outdated:
			if _, err := m.load(ctx, e.store); err != nil {
				return err
			}
		}
	}
	return nil
}

// refreshMeters loads the quotas of refused calls. It reports whether the group must be planned again.
func (e *Engine) refreshMeters(ctx context.Context, g *group, b *planner) (news bool) {
	for _, c := range g.calls {
		m := b.meters[c.Quota]
		if c.ended || m == nil {
			continue
		}
		changed, err := m.load(ctx, e.store)
		if err != nil {
			g.drop(err)
			return true
		}
		news = news || changed
	}
	return news
}
