release:
  cmd.run:
    - name: echo deploy >>@ROOT@/calls
