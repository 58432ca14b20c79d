data "carve_members" "all" {}

output "admins" {
  value = [for member in data.carve_members.all.members : member.subject if member.role == "admin"]
}
