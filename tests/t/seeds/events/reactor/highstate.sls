run_highstate:
  cmd.state.highstate:
    - tgt: 'ubuntuAsus'
