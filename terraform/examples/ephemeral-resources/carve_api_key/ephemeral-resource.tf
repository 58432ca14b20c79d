# A key for only this run, for another provider or a provisioner. Terraform stores it in no plan and no state.
ephemeral "carve_api_key" "run" {
  role      = "consumer"
  valid_for = "30m"
}

provider "carve" {
  alias   = "as_consumer"
  api_key = ephemeral.carve_api_key.run.token
}
