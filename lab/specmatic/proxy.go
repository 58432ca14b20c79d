package specmatic

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

// dryProxy passes requests on to a server, and adds dryRun=true to those that would write.
func dryProxy(ctx context.Context, to string) (addr string, closeProxy func(), err error) {
	target := &url.URL{Scheme: "http", Host: to}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		if r.In.Method == http.MethodGet || strings.HasSuffix(r.In.URL.Path, "/claim-explanations") {
			return
		}
		if r.Out.URL.RawQuery != "" {
			r.Out.URL.RawQuery += "&"
		}
		r.Out.URL.RawQuery += "dryRun=true"
	}}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: proxy, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(listener) }()
	return listener.Addr().String(), func() { _ = s.Close() }, nil
}
