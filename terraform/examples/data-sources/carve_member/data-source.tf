data "carve_member" "bob" {
  subject = "corp:bob@example.com"
}
