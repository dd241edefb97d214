# The load balancer keeps a log of the releases.
log it:
  local.state.apply:
    - tgt: role:lb
    - tgt_type: grain
    - args:
      - mods: lb.log
      - pillar:
          line: {{ data['version'] }} on {{ data['servers'] | join(', ') }}
