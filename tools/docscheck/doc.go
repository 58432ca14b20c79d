// Command docscheck holds the documentation to what is true: it runs every command that a page shows, compares what is printed with
// what the page says, and follows every link. `make docs-check` calls it.
//
// # What a page claims
//
// A fenced block with the word console is a session at a shell, as a reader would see it:
//
//	```console
//	$ ipamctl claim create web --pool prod -q
//	10.20.1.0/24
//	```
//
// Lines that begin with "$ " are commands, lines with "> " below them continue them, and all else is what the command prints, on
// both outputs. All blocks of a page are one session, in one shell, in order, on a fresh server with an empty embedded database. The folder holds
// what the checkout holds, and the server's data in data. Words behind console say more:
//
//	console exit=4           the last command of the block ends with this exit code; without it, with 0
//	console server           the command starts a server and goes on; the lines below are among those that it prints
//	console norun: reason    nothing is run; the reason is listed at the end
//
// A block of JSON right behind a command that shows no output is what the command prints, compared as JSON. A line "…" stands for
// any lines, and "…" within a line for anything.
//
// What differs each time (UUIDs, tokens, cursors, times, durations, widths of columns) may differ. What a command printed goes on into
// later commands of the page in the place of what the page says it printed, as if a reader had copied it. 127.0.0.1:8080 stands for the
// address of the page's server, and 127.0.0.1:8081 to 8089 for further ones.
//
// Three remarks, invisible to readers, are for pages that assume something. A page that neither shows a server nor says anything of one has
// one that is started by "server --auth=dev":
//
//	<!-- docs-check: server --auth=keys -->   a server that the page does not show, started here
//	<!-- docs-check: no server -->            the page needs none
//	<!-- docs-check: run                      commands that are run here, and whose output is not compared
//	ipamctl project create team-a
//	-->
//
// Commands in a block that claims neither are a fault: readers cannot know whether they work. So are dead links, pages that cannot
// be reached from docs/README.md, and YAML or JSON that cannot be read.
package main
