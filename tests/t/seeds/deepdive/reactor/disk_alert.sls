disk_alert:
  local.cmd.run:
    - tgt: {{ data['id'] }}
    - arg:
      - echo "disk {{ data['data']['diskusage'] }}" >>@ROOT@/calls
