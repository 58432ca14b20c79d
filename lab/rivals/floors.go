package rivals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"
)

// rowsSchema is the simplest table that can serve a request. Each row has a generated key and the caller's input.
const rowsSchema = `CREATE TABLE rows (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL, holder TEXT NOT NULL)`

const rowInsert = `INSERT INTO rows (name, holder) VALUES ($1, $2) RETURNING id`

// openInsert measures the minimum cost in process: one INSERT, which is one durable transaction.
func openInsert(ctx context.Context, db *database, c cell) (*session, error) {
	pool, done, err := openTables(ctx, db, c, rowsSchema, nil)
	if err != nil {
		return nil, err
	}
	next := newNames(c.clients)
	return &session{
		hand: func(ctx context.Context, client int) (id uint64, err error) {
			err = pool.QueryRow(ctx, rowInsert, next.name(client), "bench").Scan(&id)
			return id, err
		},
		close: done,
	}, nil
}

// insertRows is the number of rows in one batch of openInsertMany.
const insertRows = 100

// rowsInsert is the cheapest statement for many rows, except COPY. Its one plan serves any number of rows.
const rowsInsert = `INSERT INTO rows (name, holder) SELECT * FROM unnest($1::TEXT[], $2::TEXT[]) RETURNING id`

// openInsertMany measures the minimum cost of a batch: one INSERT of many rows, which is one durable transaction.
func openInsertMany(ctx context.Context, db *database, c cell) (*session, error) {
	pool, done, err := openTables(ctx, db, c, rowsSchema, nil)
	if err != nil {
		return nil, err
	}
	next := newNames(c.clients)
	return &session{
		many: func(ctx context.Context, client int, handed []uint64) ([]uint64, error) {
			texts, holders := make([]string, insertRows), make([]string, insertRows)
			for i := range texts {
				texts[i], holders[i] = next.name(client), "bench"
			}
			rows, err := pool.Query(ctx, rowsInsert, texts, holders)
			if err != nil {
				return handed, err
			}
			var id uint64
			made := handed
			tag, err := pgx.ForEachRow(rows, []any{&id}, func() error { made = append(made, id); return nil })
			if err == nil && tag.RowsAffected() != insertRows {
				err = fmt.Errorf("%d rows were inserted", tag.RowsAffected())
			}
			if err != nil {
				return handed, err
			}
			return made, nil
		},
		close: done,
	}, nil
}

// openHTTPInsert measures the minimum cost over HTTP. One route of the same HTTP stack runs the statement of openInsert, without authentication,
// validation and middleware.
func openHTTPInsert(ctx context.Context, db *database, c cell) (*session, error) {
	pool, done, err := openTables(ctx, db, c, rowsSchema, nil)
	if err != nil {
		return nil, err
	}
	addr, stop, err := listen(ctx, insertHandler(pool))
	if err != nil {
		return nil, errors.Join(err, done())
	}
	next := newNames(c.clients)
	p := newPoster(addr, "/rows", "", c.clients)
	return &session{
		hand: func(ctx context.Context, client int) (uint64, error) {
			answer, err := p.post(ctx, client, fmt.Appendf(nil, `{"name":%q,"holder":"bench"}`, next.name(client)))
			if err != nil {
				return 0, err
			}
			var made row
			err = json.Unmarshal(answer, &made)
			return made.ID, err
		},
		close: func() error { p.close(); return errors.Join(stop(), done()) },
	}, nil
}

// listen serves HTTP on a free port until stop is called.
func listen(ctx context.Context, handler http.Handler) (addr string, stop func() error, err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, WriteTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	return listener.Addr().String(), func() error {
		err := server.Close()
		if ended := <-failed; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	}, nil
}

type row struct {
	ID     uint64 `json:"id"`
	Name   string `json:"name"`
	Holder string `json:"holder"`
}

func insertHandler(pool *pgxpool.Pool) http.Handler {
	e := echo.New()
	e.POST("/rows", func(c echo.Context) error {
		var r row
		if err := c.Bind(&r); err != nil {
			return err
		}
		if err := pool.QueryRow(c.Request().Context(), rowInsert, r.Name, r.Holder).Scan(&r.ID); err != nil {
			return err
		}
		return c.JSON(http.StatusCreated, r)
	})
	return e
}

// openTables makes a database with a schema and the held blocks. It returns a connection pool and a function that removes the database.
func openTables(ctx context.Context, db *database, c cell, schema string, seed func(context.Context, *pgxpool.Pool) error) (*pgxpool.Pool, func() error, error) {
	name, err := db.fresh(ctx)
	if err != nil {
		return nil, nil, err
	}
	done := func() error { return db.Drop(name) }
	pool, err := db.pool(ctx, name, c.clients)
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	done = func() error { pool.Close(); return db.Drop(name) }
	if _, err := pool.Exec(ctx, schema); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	if seed != nil {
		if err := seed(ctx, pool); err != nil {
			return nil, nil, errors.Join(err, done())
		}
	}
	if err := db.Settle(ctx, name); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return pool, done, nil
}
