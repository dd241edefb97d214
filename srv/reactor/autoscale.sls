# A new server of the scaling group waits with its key. Anybody may call himself web-asg-1, so the name alone lets nobody in:
# the key must also come from the group's own network, in which there is nobody else. Put yours here. The id names this one
# key, and `json` writes it as the text that it is.
{% if data['act'] == 'pend' and data['id'] is match('web-asg-[0-9]+$') and data['address'] is match('10\.20\.30\.') %}
accept it:
  wheel.key.accept:
    - match: {{ data['id'] | json }}
{% endif %}
