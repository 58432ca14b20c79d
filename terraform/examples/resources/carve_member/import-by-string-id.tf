import {
  to = carve_member.alice
  id = "team-a/corp:alice@example.com"
}
