#!/usr/bin/env bash
# Three teams draw on one address plan. Each command is printed as it is run: read it as a tour of ipamctl.
# It needs a server (CARVE_SERVER) and a project that does not exist yet (CARVE_PROJECT).
set -euo pipefail
cd "$(dirname "$0")"

# run prints a command, as it would be typed, and carries it out.
run() {
  local word
  printf '\n$ ipamctl'
  for word in "$@"; do
    case $word in
      *[!A-Za-z0-9_./:=,-]* | '') printf ' %s' "${word@Q}" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
  printf '\n'
  ipamctl "$@"
}

# refused is run for a command that must fail, with this exit code.
refused() {
  local want=$1 code=0
  shift
  run "$@" 2>&1 || code=$?
  printf -- '-> exit code %d\n' "$code"
  if [ "$code" -ne "$want" ]; then
    echo "demo: that should have been $want" >&2
    exit 1
  fi
}

title() { printf '\n## %s\n' "$*"; }

title 'The plan: a project, its spaces, its classes, its pools'
run apply -f plan.yaml -p "$CARVE_PROJECT"
run pool tree

title 'Platform team: node pools for the clusters, wherever a pool has the labels and the room'
run claim create blue-nodes -l 'role=k8s,env=prod,geo=eu' --family 4 --owner Cluster/blue --label team=platform
run claim create blue-nodes-v6 -l 'role=k8s,env=prod,geo=eu' --family 6 --owner Cluster/blue --label team=platform
run claim create green-nodes -l 'role=k8s,env=prod,geo in (na)' --family 4 --owner Cluster/green --label team=platform
run claim create green-nodes-v6 -l 'role=k8s,env=prod,geo in (na)' --family 6 --owner Cluster/green --label team=platform
printf '\n# By a class nobody has to know pools: it tries those that list it.\n'
run claim create red-nodes --class nodes --owner Cluster/red --label team=platform
run class show nodes
run claim explain --class nodes --prefix-length 20
printf '\n# A script that runs again gets what it got: put is create-or-return, -q prints the CIDR alone.\n'
run claim put ci-nodes --pool eu-stage-k8s --prefix-length 25 --label team=platform -q
run claim put ci-nodes --pool eu-stage-k8s --prefix-length 25 --label team=platform -q

title 'Network team: links between routers, and their loopbacks'
for link in fra1-ams1 fra1-nyc1 ams1-nyc1; do
  run claim create "link-$link" --pool transit-v4 --owner "Link/$link" --label team=network -q
  run claim create "link-$link-v6" --pool transit-v6 --owner "Link/$link" --label team=network -q
done
for router in fra1 ams1 nyc1; do
  run claim create "lo-$router" --pool loopbacks-v4 --owner "Router/$router" --label team=network -q
  run claim create "lo-$router-v6" --pool loopbacks-v6 --owner "Router/$router" --label team=network -q
done

title 'Shop team: a batch, all or nothing'
printf '\n$ ipamctl claim batch -f - <<END\n%s\nEND\n' "$(cat batch.yaml)"
ipamctl claim batch -f - <batch.yaml

title 'Shop team: an address that outlives its claim'
run claim create shop-vip --pool eu-prod-apps --reclaim-policy Retain --owner Ingress/shop --label team=shop
address=$(ipamctl claim get shop-vip -q)
run claim delete shop-vip
printf '\n# Nobody else gets it meanwhile: the allocation keeps it.\n'
run allocation list --phase Retained
kept=$(ipamctl allocation list --phase Retained -o name)
refused 4 claim create thief --pool eu-prod-apps --cidr "$address"
run claim create shop-vip --allocation "$kept" --reclaim-policy Retain --owner Ingress/shop --label team=shop

title 'What is refused, and how it says so'
for n in 1 2 3 4; do
  run claim create "resolver-$n" --pool eu-prod-dns --label team=shop -q
done
refused 4 claim create resolver-5 --pool eu-prod-dns
refused 1 claim create too-large --pool eu-prod-apps --prefix-length 16
refused 1 claim create out-of-bounds --pool eu-prod-k8s --prefix-length 28
refused 4 pool create overlap --space corp --cidr 10.64.0.0/10
refused 4 pool delete eu-prod-dns
refused 3 claim create lost --pool eu-prod-vpn
printf '\n# A resolver less, and the very address is free again.\n'
run claim delete resolver-2
run claim create resolver-5 --pool eu-prod-dns --label team=shop -q

title 'What came of it'
run claim list
run pool tree eu-prod --claims
run pool free eu-prod-k8s --prefix-length 20
