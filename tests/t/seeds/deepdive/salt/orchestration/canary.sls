canary:
  salt.state:
    - tgt: 'web-canary*'
    - sls:
      - apps.myapp

healthy:
  salt.function:
    - name: cmd.run
    - tgt: 'web-canary*'
    - arg:
      - curl -qfsS --noproxy '*' {{ pillar['health'] }}
    - require:
      - salt: canary

everywhere:
  salt.state:
    - tgt: 'web*'
    - sls:
      - apps.myapp
    - require:
      - salt: healthy
