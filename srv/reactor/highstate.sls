highstate:
  local.state.apply:
    - tgt: {{ data['id'] | json }}
