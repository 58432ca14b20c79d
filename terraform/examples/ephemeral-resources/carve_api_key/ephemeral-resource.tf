# A key for this run alone, for another provider or a provisioner: it is in no plan and in no state.
ephemeral "carve_api_key" "run" {
  role      = "consumer"
  valid_for = "30m"
}

provider "carve" {
  alias   = "as_consumer"
  api_key = ephemeral.carve_api_key.run.token
}
