load_balancer:
  salt.state:
    - tgt: 'lb*'
    - sls:
      - balancer

webservers:
  salt.state:
    - tgt: 'web*'
    - sls:
      - nginx
    - require:
      - salt: load_balancer
