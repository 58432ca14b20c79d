resource "carve_member" "alice" {
  subject = "corp:alice@example.com"
  role    = "provider"
}
