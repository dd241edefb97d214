cmd.run:
  salt.function:
    - tgt: '*'
    - arg:
      - rm -rf @ROOT@/tmp/foo
