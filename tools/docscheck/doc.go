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
// Lines that begin with "$ " are commands, lines with "> " below them continue them, and all other lines are the command's output, on both streams.
// All blocks of a page are one session, in one shell, in order, on a fresh server with an empty embedded database. The folder has the files of the
// checkout, and the server's data in data. Words behind console have a meaning:
//
//	console exit=4           the last command of the block ends with this exit code (default: 0)
//	console server           the command starts a server and continues; the server prints the lines below, among others
//	console norun: reason    nothing runs; docscheck lists the reason at the end
//
// A JSON block directly after a command without output is the command's output, compared as JSON. A line "…" matches any lines, and "…" within a line
// matches any text.
//
// Values that differ in each run (UUIDs, tokens, cursors, times, durations, widths of columns) may differ. Later commands of the page use the printed
// value in place of the page's value, as if a reader had copied it. 127.0.0.1:8080 represents the address of the page's server, and 127.0.0.1:8081 to
// 8089 represent further ones.
//
// Three instructions, invisible to readers, serve pages with requirements. A page without any server, shown or declared, gets one from "server
// --auth=dev":
//
//	<!-- docs-check: server --auth=keys -->   starts a server that the page does not show
//	<!-- docs-check: no server -->            the page needs none
//	<!-- docs-check: run                      runs commands here, without a comparison of their output
//	ipamctl project create team-a
//	-->
//
// Commands in a block without the word console are a fault: readers cannot know whether they work. Dead links, pages without a path from
// docs/README.md, and invalid YAML or JSON are faults too.
package main
