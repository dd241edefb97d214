# The load balancer keeps a log of the releases. Version and servers are what an event says: `json` writes them as one text.
log it:
  local.state.apply:
    - tgt: role:lb
    - tgt_type: grain
    - args:
      - mods: lb.log
      - pillar:
          line: {{ (data['version'] ~ ' on ' ~ data['servers'] | join(', ')) | json }}
