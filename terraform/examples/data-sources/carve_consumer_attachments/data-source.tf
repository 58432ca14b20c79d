data "carve_consumer_attachments" "web" {
  claim = "web"
}

output "users" {
  value = data.carve_consumer_attachments.web.consumer_attachments[*].uid
}
