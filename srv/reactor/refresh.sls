refresh:
  local.saltutil.refresh_pillar:
    - tgt: '*'
