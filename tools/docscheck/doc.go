// Command docscheck checks the documentation: it runs every command on a page, compares the output with the page, and follows every link. `make
// docs-check` calls it.
//
// # The claims of a page
//
// A fenced block with the word console is a shell session, as a reader would see it:
//
//	```console
//	$ ipamctl claim create web --pool prod -q
//	10.20.1.0/24
//	```
//
// Lines that begin with "$ " are commands. Lines below them that begin with "> " continue the command. All other lines are the command's output, on
// both streams. All blocks of a page run in order in one shell, on a fresh server with an empty embedded database. The folder has the files of the
// checkout, and the server's data in data. These words may follow console:
//
//	console exit=4           the last command of the block ends with this exit code (default: 0)
//	console server           the command starts a server and continues; the server prints the lines below, among others
//	console norun: reason    nothing runs; docscheck lists the reason at the end
//
// If a JSON block directly follows a command without output, the block is the command's output. docscheck compares it as JSON. A line "…" matches any
// lines, and "…" within a line matches any text.
//
// Some values differ in each run, and docscheck ignores these differences. They are UUIDs, hashes, tokens, cursors, times, durations and widths of
// columns. Later commands of the page use the printed value in place of the page's value, as if a reader had copied it. 127.0.0.1:8080 represents the
// address of the page's server, and 127.0.0.1:8081 to 8089 represent further servers.
//
// A page can have three instructions that readers do not see. If a page neither shows nor declares a server, docscheck starts "server --auth=dev" for
// it:
//
//	<!-- docs-check: server --auth=keys -->   starts a server that the page does not show
//	<!-- docs-check: no server -->            the page needs none
//	<!-- docs-check: run                      runs commands here, without a comparison of their output
//	ipamctl project create team-a
//	-->
//
// A command in a block without the word console is a fault, because no check shows that it works. Dead links and invalid YAML or JSON are faults too.
// If no path of links leads from docs/README.md to a page, that is also a fault.
package main
